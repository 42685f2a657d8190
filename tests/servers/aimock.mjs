// SPDX-License-Identifier: MIT
// A chat server written by others (@copilotkit/aimock) with our fixtures: three turns of one tool
// call each, then an answer. Prints its base URL; ends when standard input closes.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const modules = createRequire(pathToFileURL(process.env.GUDGEON_NODE_MODULES + "/"));
const { LLMock } = modules("@copilotkit/aimock");
const mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 7 });
for (let turn = 0; turn < 3; turn++) {
  mock.addFixture({
    match: { userMessage: "Count", turnIndex: turn },
    response: {
      content: null,
      toolCalls: [{ name: "shell", arguments: JSON.stringify({ command: `echo turn ${turn}` }) }],
    },
  });
}
mock.addFixture({
  match: { userMessage: "Count", turnIndex: 3 },
  response: { content: "Three turns, all told." },
});
await mock.start();
console.log(`${mock.url}/v1`);
process.stdin.on("end", () => process.exit(0)).resume();
