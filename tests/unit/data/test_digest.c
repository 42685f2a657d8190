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
    UNIT_MAIN("digest", {"published examples", test_known},
              {"asking does not end it, a copy is independent", test_incremental});
}
