/* SPDX-License-Identifier: MIT */
#include "data/digest.h"

#include "base/str.h"
#include "unit.h"

/* The examples of NIST's "SHA256.pdf" and FIPS 180-4. */
static void test_known(void)
{
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char hex[DIGEST_HEX_SIZE];
        digest_of(str_of(rows[i].text), hex);
        CHECK_STR(hex, rows[i].hex);
    }
}

/* Every place in a block where a text can end; the wanted digest is Python's. */
static void test_lengths(void)
{
    enum { LONGEST = 200 };
    unsigned char text[LONGEST];
    char hex[DIGEST_HEX_SIZE];
    struct digest of_all;
    digest_init(&of_all);
    for (int i = 0; i < LONGEST; i++)
        text[i] = (unsigned char)(i * 7 + 3);
    for (size_t len = 0; len <= LONGEST; len++) {
        digest_of((gudgeon_str){(const char *)text, len}, hex);
        digest_update(&of_all, hex, DIGEST_HEX_SIZE - 1);
    }
    digest_hex(&of_all, hex);
    CHECK_STR(hex, "530566f39d545b371e5360fbfe251c0da6410ba297e67392dfaec0cb575d67ed");
}

static void test_pieces(void)
{
    char hex[DIGEST_HEX_SIZE];
    for (size_t piece = 1; piece <= 129; piece++) {
        char as[129];
        struct digest digest;
        digest_init(&digest);
        memset(as, 'a', sizeof as);
        size_t left = 10000;
        for (; left > piece; left -= piece)
            digest_update(&digest, as, piece);
        digest_update(&digest, as, left);
        digest_update(&digest, NULL, 0);
        digest_hex(&digest, hex);
        CHECK_STR(hex, "27dd1f61b867b6a0f6e9d8a41c43231de52107e53ae424de8f847b821db4b711");
    }
}

static void test_incremental(void)
{
    struct digest digest, branch;
    char hex[DIGEST_HEX_SIZE], again[DIGEST_HEX_SIZE];
    digest_init(&digest);
    digest_update(&digest, "a", 1);
    digest_hex(&digest, hex);
    digest_hex(&digest, again);
    CHECK_STR(again, hex);
    digest_copy(&branch, &digest);
    digest_update(&branch, "x", 1);
    digest_update(&digest, "bc", 2);
    digest_hex(&digest, hex);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_hex(&branch, again);
    digest_of(str_of("ax"), hex);
    CHECK_STR(again, hex);
}

int main(void)
{
    UNIT_MAIN("digest", {"published examples", test_known}, {"texts of every length", test_lengths},
              {"in pieces", test_pieces},
              {"asking does not end it, a copy is independent", test_incremental});
}
