/* SPDX-License-Identifier: MIT */

/*
 * The layout of everything that crosses the plugin boundary, on machines with 64-bit pointers:
 * where each field is, and how large each struct was when it was first published. Fields are only
 * ever appended, so no line of this file may change; new fields add lines. Compiled, never run.
 */

#include <stddef.h>

#include <gudgeon/ext/http.h>
#include <gudgeon/ext/memo.h>
#include <gudgeon/ext/process.h>
#include <gudgeon/ext/secret.h>
#include <gudgeon/ext/tools.h>
#include <gudgeon/plugin.h>

/* No hidden padding at the end, and at least as large as the oldest one. */
#define SIZE(type, bytes)                                                                          \
    _Static_assert(sizeof(struct type) >= (bytes) && sizeof(struct type) % 8 == 0, #type " shran"  \
                                                                                         "k")
#define AT(offset, type, field)                                                                    \
    _Static_assert(offsetof(struct type, field) == (offset), #type "." #field " has moved")

_Static_assert(sizeof(void *) == 8, "this table is for 64-bit pointers");
_Static_assert(sizeof(struct gudgeon_str) == 16, "gudgeon_str is frozen");

SIZE(gudgeon_str, 16);
AT(0, gudgeon_str, ptr);
AT(8, gudgeon_str, len);

SIZE(gudgeon_delta, 48);
AT(0, gudgeon_delta, size);
AT(4, gudgeon_delta, channel);
AT(8, gudgeon_delta, index);
AT(12, gudgeon_delta, reserved);
AT(16, gudgeon_delta, name);
AT(32, gudgeon_delta, bytes);

SIZE(gudgeon_error, 64);
AT(0, gudgeon_error, size);
AT(4, gudgeon_error, http_status);
AT(8, gudgeon_error, retry_after_ms);
AT(16, gudgeon_error, message);
AT(32, gudgeon_error, provider_code);
AT(48, gudgeon_error, grant);

SIZE(gudgeon_call, 80);
AT(0, gudgeon_call, size);
AT(4, gudgeon_call, reserved);
AT(8, gudgeon_call, host_data);
AT(16, gudgeon_call, id);
AT(32, gudgeon_call, deadline_ns);
AT(40, gudgeon_call, cancelled);
AT(48, gudgeon_call, cancel_fd);
AT(56, gudgeon_call, delta);
AT(64, gudgeon_call, result);
AT(72, gudgeon_call, error);

SIZE(gudgeon_host, 56);
AT(0, gudgeon_host, size);
AT(4, gudgeon_host, abi_minor);
AT(8, gudgeon_host, host_data);
AT(16, gudgeon_host, version);
AT(32, gudgeon_host, service);
AT(40, gudgeon_host, log);
AT(48, gudgeon_host, tools_changed);

SIZE(gudgeon_create, 64);
AT(0, gudgeon_create, size);
AT(4, gudgeon_create, reserved);
AT(8, gudgeon_create, host);
AT(16, gudgeon_create, name);
AT(32, gudgeon_create, config);
AT(48, gudgeon_create, grant);

SIZE(gudgeon_stop, 8);
AT(0, gudgeon_stop, size);
AT(4, gudgeon_stop, reserved);

SIZE(gudgeon_component, 72);
AT(0, gudgeon_component, size);
AT(4, gudgeon_component, flags);
AT(8, gudgeon_component, kind);
AT(16, gudgeon_component, name);
AT(24, gudgeon_component, summary);
AT(32, gudgeon_component, config_schema);
AT(40, gudgeon_component, needs);
AT(48, gudgeon_component, create);
AT(56, gudgeon_component, destroy);
AT(64, gudgeon_component, ops);

SIZE(gudgeon_msg, 64);
AT(0, gudgeon_msg, size);
AT(4, gudgeon_msg, reserved);
AT(8, gudgeon_msg, id);
AT(16, gudgeon_msg, role);
AT(32, gudgeon_msg, content);
AT(48, gudgeon_msg, origin);

SIZE(gudgeon_tool, 56);
AT(0, gudgeon_tool, size);
AT(4, gudgeon_tool, flags);
AT(8, gudgeon_tool, name);
AT(24, gudgeon_tool, description);
AT(40, gudgeon_tool, parameters);

SIZE(gudgeon_generate, 160);
AT(0, gudgeon_generate, size);
AT(4, gudgeon_generate, tool_choice);
AT(8, gudgeon_generate, model);
AT(24, gudgeon_generate, conversation_id);
AT(40, gudgeon_generate, msgs);
AT(48, gudgeon_generate, msg_count);
AT(56, gudgeon_generate, tools);
AT(64, gudgeon_generate, tool_count);
AT(72, gudgeon_generate, tools_revision);
AT(80, gudgeon_generate, choice_name);
AT(96, gudgeon_generate, parameters);
AT(112, gudgeon_generate, extra);
AT(128, gudgeon_generate, output_schema);
AT(144, gudgeon_generate, max_output_tokens);
AT(152, gudgeon_generate, stream);
AT(156, gudgeon_generate, reserved);

SIZE(gudgeon_reply, 136);
AT(0, gudgeon_reply, size);
AT(4, gudgeon_reply, finish);
AT(8, gudgeon_reply, finish_raw);
AT(24, gudgeon_reply, content);
AT(40, gudgeon_reply, response_id);
AT(56, gudgeon_reply, model_served);
AT(72, gudgeon_reply, origin);
AT(88, gudgeon_reply, usage_known);
AT(92, gudgeon_reply, reserved);
AT(96, gudgeon_reply, input_tokens);
AT(104, gudgeon_reply, output_tokens);
AT(112, gudgeon_reply, cached_tokens);
AT(120, gudgeon_reply, cache_write_tokens);
AT(128, gudgeon_reply, reasoning_tokens);

SIZE(gudgeon_capabilities_request, 24);
AT(0, gudgeon_capabilities_request, size);
AT(4, gudgeon_capabilities_request, reserved);
AT(8, gudgeon_capabilities_request, model);

SIZE(gudgeon_capabilities, 24);
AT(0, gudgeon_capabilities, size);
AT(4, gudgeon_capabilities, can);
AT(8, gudgeon_capabilities, window_tokens);
AT(16, gudgeon_capabilities, max_output_tokens);

SIZE(gudgeon_model, 24);
AT(0, gudgeon_model, size);
AT(4, gudgeon_model, reserved);
AT(8, gudgeon_model, generate);
AT(16, gudgeon_model, capabilities);

SIZE(gudgeon_list, 8);
AT(0, gudgeon_list, size);
AT(4, gudgeon_list, reserved);

SIZE(gudgeon_tool_call, 40);
AT(0, gudgeon_tool_call, size);
AT(4, gudgeon_tool_call, reserved);
AT(8, gudgeon_tool_call, tool);
AT(24, gudgeon_tool_call, arguments);

SIZE(gudgeon_tool_result, 56);
AT(0, gudgeon_tool_result, size);
AT(4, gudgeon_tool_result, flags);
AT(8, gudgeon_tool_result, text);
AT(24, gudgeon_tool_result, content);
AT(40, gudgeon_tool_result, data);

SIZE(gudgeon_tools, 24);
AT(0, gudgeon_tools, size);
AT(4, gudgeon_tools, reserved);
AT(8, gudgeon_tools, list);
AT(16, gudgeon_tools, call);

SIZE(gudgeon_exec, 80);
AT(0, gudgeon_exec, size);
AT(4, gudgeon_exec, block);
AT(8, gudgeon_exec, code);
AT(24, gudgeon_exec, variables);
AT(40, gudgeon_exec, tools);
AT(48, gudgeon_exec, tool_count);
AT(56, gudgeon_exec, tools_revision);
AT(64, gudgeon_exec, now_ms);
AT(72, gudgeon_exec, seed);

SIZE(gudgeon_exec_result, 48);
AT(0, gudgeon_exec_result, size);
AT(4, gudgeon_exec_result, flags);
AT(8, gudgeon_exec_result, value);
AT(24, gudgeon_exec_result, message);
AT(40, gudgeon_exec_result, line);
AT(44, gudgeon_exec_result, reserved);

SIZE(gudgeon_executor, 16);
AT(0, gudgeon_executor, size);
AT(4, gudgeon_executor, reserved);
AT(8, gudgeon_executor, exec);

SIZE(gudgeon_event, 56);
AT(0, gudgeon_event, size);
AT(4, gudgeon_event, reserved);
AT(8, gudgeon_event, run);
AT(24, gudgeon_event, type);
AT(40, gudgeon_event, json);

SIZE(gudgeon_sink, 24);
AT(0, gudgeon_sink, size);
AT(4, gudgeon_sink, reserved);
AT(8, gudgeon_sink, event);
AT(16, gudgeon_sink, flush);

SIZE(gudgeon_plugin, 64);
AT(0, gudgeon_plugin, magic);
AT(8, gudgeon_plugin, abi_major);
AT(12, gudgeon_plugin, abi_minor);
AT(16, gudgeon_plugin, size);
AT(20, gudgeon_plugin, reserved);
AT(24, gudgeon_plugin, name);
AT(32, gudgeon_plugin, version);
AT(40, gudgeon_plugin, licence);
AT(48, gudgeon_plugin, components);
AT(56, gudgeon_plugin, minimum_host_minor);

SIZE(gudgeon_http_header, 32);
AT(0, gudgeon_http_header, name);
AT(16, gudgeon_http_header, value);

SIZE(gudgeon_http_request, 128);
AT(0, gudgeon_http_request, size);
AT(4, gudgeon_http_request, reserved);
AT(8, gudgeon_http_request, method);
AT(24, gudgeon_http_request, url);
AT(40, gudgeon_http_request, headers);
AT(48, gudgeon_http_request, header_count);
AT(56, gudgeon_http_request, body);
AT(64, gudgeon_http_request, body_count);
AT(72, gudgeon_http_request, ca_file);
AT(88, gudgeon_http_request, connect_ms);
AT(96, gudgeon_http_request, first_byte_ms);
AT(104, gudgeon_http_request, idle_ms);
AT(112, gudgeon_http_request, total_ms);
AT(120, gudgeon_http_request, max_bytes);

SIZE(gudgeon_http_head, 40);
AT(0, gudgeon_http_head, size);
AT(4, gudgeon_http_head, status);
AT(8, gudgeon_http_head, headers);
AT(16, gudgeon_http_head, header_count);
AT(24, gudgeon_http_head, url);

SIZE(gudgeon_http_part, 56);
AT(0, gudgeon_http_part, size);
AT(4, gudgeon_http_part, end);
AT(8, gudgeon_http_part, type);
AT(24, gudgeon_http_part, id);
AT(40, gudgeon_http_part, data);

SIZE(gudgeon_http, 72);
AT(0, gudgeon_http, size);
AT(4, gudgeon_http, reserved);
AT(8, gudgeon_http, open);
AT(16, gudgeon_http, head);
AT(24, gudgeon_http, read);
AT(32, gudgeon_http, read_line);
AT(40, gudgeon_http, read_event);
AT(48, gudgeon_http, read_all);
AT(56, gudgeon_http, close);
AT(64, gudgeon_http, peek);

SIZE(gudgeon_memo, 24);
AT(0, gudgeon_memo, size);
AT(4, gudgeon_memo, reserved);
AT(8, gudgeon_memo, get);
AT(16, gudgeon_memo, put);

SIZE(gudgeon_process_request, 56);
AT(0, gudgeon_process_request, size);
AT(4, gudgeon_process_request, flags);
AT(8, gudgeon_process_request, argv);
AT(16, gudgeon_process_request, argv_count);
AT(24, gudgeon_process_request, env);
AT(32, gudgeon_process_request, env_count);
AT(40, gudgeon_process_request, directory);

SIZE(gudgeon_process_exit, 16);
AT(0, gudgeon_process_exit, size);
AT(4, gudgeon_process_exit, signal);
AT(8, gudgeon_process_exit, status);
AT(12, gudgeon_process_exit, reserved);

SIZE(gudgeon_process, 64);
AT(0, gudgeon_process, size);
AT(4, gudgeon_process, reserved);
AT(8, gudgeon_process, spawn);
AT(16, gudgeon_process, fd);
AT(24, gudgeon_process, close_fd);
AT(32, gudgeon_process, exit_fd);
AT(40, gudgeon_process, signal);
AT(48, gudgeon_process, wait);
AT(56, gudgeon_process, close);

SIZE(gudgeon_secret, 16);
AT(0, gudgeon_secret, size);
AT(4, gudgeon_secret, reserved);
AT(8, gudgeon_secret, expand);

SIZE(gudgeon_tools_reply, 48);
AT(0, gudgeon_tools_reply, size);
AT(4, gudgeon_tools_reply, flags);
AT(8, gudgeon_tools_reply, text);
AT(24, gudgeon_tools_reply, data);
AT(40, gudgeon_tools_reply, now_ms);

SIZE(gudgeon_tools_service, 16);
AT(0, gudgeon_tools_service, size);
AT(4, gudgeon_tools_service, reserved);
AT(8, gudgeon_tools_service, invoke);
