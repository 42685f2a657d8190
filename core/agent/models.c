/* SPDX-License-Identifier: MIT */
#include "agent/models.h"

#include <stdlib.h>

#include "agent/definition.h"
#include "agent/entry.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/instance.h"

enum { CAPABILITIES_TIME_S = 10 }; /* they are known without asking anybody */

struct models {
    const struct definition *definition;
    struct instance_options shared;
    size_t index; /* into definition->models */
    struct model current;
    char *label;
};

static void close_current(struct models *models)
{
    instance_close(models->current.instance);
    models->current = (struct model){0};
    free(TAKE(models->label));
}

static void ask_capabilities(struct model *model, struct cancel *cancel)
{
    model->can = GUDGEON_CAN_STREAM | GUDGEON_CAN_TOOLS | GUDGEON_CAN_CHOICE_NONE;
    struct call *call = call_new(&(struct call_options){
        .parent = cancel,
        .deadline_ns = clock_monotonic_ns() + CAPABILITIES_TIME_S * NS_PER_S,
    });
    if (instance_capabilities(model->instance, call, model->entry->model) == 0)
        model->can = call_capabilities(call)->can;
    model->scripted = model->can & GUDGEON_IS_SCRIPTED;
    call_free(call);
}

/* A scripted backend calls itself so wherever its name shows. */
static char *make_label(const struct model *model)
{
    const struct model_entry *entry = model->entry;
    return xasprintf("%s%s%s%s", entry->entry.use, entry->model[0] != '\0' ? " " : "", entry->model,
                     model->scripted ? " (scripted: no language model)" : "");
}

static int open_at(struct models *models, size_t index, struct err *err)
{
    const struct model_entry *entry = &models->definition->models[index];
    struct instance_options options;
    close_current(models);
    models->index = index;
    struct instance *instance = NULL;
    int status = entry_options(&entry->entry, &models->shared, &options, err);
    if (status == 0)
        status = instance_open(entry->entry.component, &options, &instance, err);
    if (status < 0)
        return status;
    models->current = (struct model){.entry = entry, .instance = instance};
    ask_capabilities(&models->current, models->shared.cancel);
    models->label = make_label(&models->current);
    models->current.label = models->label;
    return 0;
}

int models_open(const struct definition *definition, const struct instance_options *shared,
                struct models **ret, struct err *err)
{
    struct models *models = xcalloc(1, sizeof *models);
    models->definition = definition;
    models->shared = *shared;
    int status = open_at(models, 0, err);
    if (status < 0)
        models_free(models);
    else
        *ret = models;
    return status;
}

void models_free(struct models *models)
{
    if (models == NULL)
        return;
    close_current(models);
    free(models);
}

const struct model *models_current(const struct models *models)
{
    return &models->current;
}

bool models_has_next(const struct models *models)
{
    return models->index + 1 < models->definition->model_count;
}

int models_fail_over(struct models *models, struct err *err)
{
    int status = ERR_NOT_FOUND;
    while (status < 0 && models_has_next(models))
        status = open_at(models, models->index + 1, err);
    return status;
}
