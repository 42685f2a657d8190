/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_MODELS_H
#define GUDGEON_AGENT_MODELS_H

/*
 * The models of a definition, in the order in which they are tried.
 *
 * The first is opened at once, so that its faults show before the run starts; the others when the
 * loop fails over to them. After a fail-over the run stays with the new model.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

struct call;
struct definition;
struct err;
struct instance;
struct instance_options;
struct model_entry;
struct models;

struct model {
    const struct model_entry *entry;
    struct instance *instance;
    const char *label; /* "openai gpt-5-mini", for people */
    unsigned can;      /* GUDGEON_CAN_*; assumed when the backend does not say */
    bool scripted;     /* no language model answers */
};

/* `shared` is the template for each instance's options (services, secrets, cancel, log). */
int models_open(const struct definition *definition, const struct instance_options *shared,
                struct models **ret, struct err *err);
void models_free(struct models *models);

const struct model *models_current(const struct models *models);
/* Whether there is a model to go on to. */
bool models_has_next(const struct models *models);
/* Goes on to the next model that can be opened. After a failure, which is the last one's, there is
 * no current model and no next one. */
int models_fail_over(struct models *models, struct err *err);

#endif
