/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_DEFINITION_BIND_H
#define GUDGEON_AGENT_DEFINITION_BIND_H

/*
 * What a definition's table cannot say: components, their configuration and needs, instance names,
 * defaults of inputs.
 *
 * Private to the definition's files. The tree is the one that the struct was filled from. Faults go
 * to the context's diags.
 */

struct component_info;
struct definition;
struct field_table;
struct fields_context;
struct registry;
struct use_entry;
struct yaml_node;

/* Completes the definition that `root` was loaded to. registry may be NULL. */
void definition_bind(struct definition *definition, const struct yaml_node *root,
                     const struct registry *registry, const struct fields_context *context);

/*
 * definition_config.c: what `entry` has beside the keys of `table`, as the component's
 * configuration in entry->config (JSON text): typed by the component's schema, defaults filled in,
 * checked, paths absolute. With `parameters`, the keys that the schema marks x-request go there
 * instead. Without a component (entry->component NULL) it is taken as it stands.
 */
void definition_bind_config(struct use_entry *entry, char **parameters, struct yaml_node *node,
                            const struct field_table *table, const struct fields_context *context);

/* definition_needs.c: tells what of the component's needs entry->grant lacks, as the YAML to add.
 */
void definition_check_needs(const struct use_entry *entry, struct yaml_node *node,
                            const struct fields_context *context);

#endif
