import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { importSources } from "../../../src/histories/import-sources.ts";
import { Input } from "../../../src/histories/reading/input.ts";
import { sweAgentFormat } from "../../../src/histories/swe-agent/swe-agent-format.ts";
import { SUM_META } from "../../../src/model/usage.ts";
import { testFolder } from "../../support/folder.ts";
import { readAll, sourcesAt } from "../../support/items.ts";
import { testKernel } from "../../support/kernel.ts";
import { readText, words } from "../wire/reading-wire.ts";

const agent = "primary";
const prompt = "(Open file: n/a)\nbash-$";

/** A turn as versions before 1 store it in both places. */
const turn = (action: string, observation: string) => {
  const thought = "I think.\n";
  const response = `${thought}\`\`\`\n${action}\n\`\`\``;
  return {
    step: { action: `${action}\n`, observation, response, state: '{"cwd":"/"}', thought },
    said: { role: "assistant", content: response, thought, action: `${action}\n`, agent },
    seen: { role: "user", content: `${observation}\n${prompt}`, agent },
  };
};

const opening = [
  { role: "system", content: "You work.", agent },
  { role: "user", content: "A demonstration.", agent, is_demo: true },
  { role: "user", content: "The task.", agent },
];
const [first, second] = [turn("ls -F", "a b"), turn("./x && y", "Exited")];
const info = {
  exit_status: "submitted",
  model_stats: { tokens_sent: 100, tokens_received: 20, instance_cost: 0.5, api_calls: 2 },
};
const trajectory = {
  environment: "main",
  trajectory: [first.step, second.step],
  history: [...opening, first.said, first.seen, second.said],
  info,
};

describe("SWE-agent trajectories", () => {
  test("SWE-agent trajectories are read element by element, whichever array is large", async () => {
    const attempts = Array.from({ length: 50 }, (_, index) => ({ index, words: "x".repeat(1_000) }));
    const { jsonElements } = Input.prototype;
    let largest = 0;
    const reading = vi.spyOn(Input.prototype, "jsonElements").mockImplementation(async function* (
      this: Input,
      ...given
    ) {
      for await (const element of jsonElements.apply(this, given)) {
        largest = Math.max(largest, element.sizeBytes);
        yield element;
      }
    });
    onTestFinished(() => reading.mockRestore());
    const { records } = await readText(sweAgentFormat, JSON.stringify({ ...trajectory, attempts }), "a.traj");
    expect(records.filter(({ id }) => id.startsWith("attempts#"))).toHaveLength(50);
    expect(largest).toBeLessThan(2_000);
  });

  test("actions become calls, and the messages after them become their results", async () => {
    const { messages, items, records, source, session } = await readText(
      sweAgentFormat,
      JSON.stringify(trajectory, null, 2),
      "repo__issue-7.traj",
    );
    expect(messages).toEqual([
      ["#0", "system", [words("You work.")]],
      ["#1", "user", [words("A demonstration.")]],
      ["#2", "user", [words("The task.")]],
      [
        "#3",
        "assistant",
        [
          words(first.said.content),
          { type: "tool-call", callId: "action-3", name: "ls", input: { command: "ls -F\n" } },
        ],
      ],
      ["#4", "tool", [{ type: "tool-result", callId: "action-3", name: "ls", output: `a b\n${prompt}` }]],
      [
        "#5",
        "assistant",
        [
          words(second.said.content),
          { type: "tool-call", callId: "action-5", name: "bash", input: { command: "./x && y\n" } },
        ],
      ],
      ["#6", "tool", [{ type: "tool-result", callId: "action-5", name: "bash", output: "Exited" }]],
    ]);
    expect(records.slice(-2)).toEqual([
      {
        type: "record",
        id: "usage",
        body: { kind: "usage", usage: { inputTokens: 100, outputTokens: 20, cost: 0.5 }, meta: SUM_META },
      },
      { type: "record", id: "info", body: { kind: "raw", value: { info } } },
    ]);
    expect(records[4]?.body).toMatchObject({ message: { meta: { "swe-agent": { state: '{"cwd":"/"}' } } } });
    expect(session?.meta).toEqual({ "swe-agent": { environment: "main", agent } });
    expect(source).toMatchObject({ title: "repo__issue-7" });
    const copied = items.reduce((sum, item) => sum + (item.type === "copy" ? item.bytes : 0), 0);
    expect(copied).toBeGreaterThan(2 * JSON.stringify(first.step.response).length);
  });

  test("calls, reasoning and sent messages of version 1 are read", async () => {
    const call = { id: "c1", type: "function", function: { name: "view", arguments: '{"path":"/a"}' } };
    const history = [
      { role: "system", content: "You work.", agent, message_type: "system_prompt" },
      { role: "user", content: [{ type: "text", text: "The task." }], agent, message_type: "observation" },
      {
        role: "assistant",
        content: "I look.",
        thought: "I look.",
        action: "view /a",
        agent,
        tool_calls: [call],
        thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "c2ln" }],
        message_type: "action",
      },
      {
        role: "tool",
        content: [{ type: "text", text: "OBSERVATION:\ntext" }],
        agent,
        message_type: "observation",
        tool_call_ids: ["c1"],
      },
    ];
    const sent = [
      { role: "system", content: "You work." },
      { role: "user", content: "shortened" },
    ];
    const step = {
      action: "view /a",
      observation: "text",
      response: "I look.",
      thought: "I look.",
      execution_time: 0.1,
      state: {},
      query: sent,
      extra_info: {},
    };
    const { messages, records } = await readText(
      sweAgentFormat,
      JSON.stringify({ trajectory: [step, { ...step, observation: "more" }], history, info: {} }),
      "x.traj",
    );
    expect(messages.slice(2)).toEqual([
      [
        "#2",
        "assistant",
        [
          { type: "reasoning", text: "hm", opaque: "c2ln" },
          words("I look."),
          { type: "tool-call", callId: "c1", name: "view", input: { path: "/a" } },
        ],
      ],
      [
        "#3",
        "tool",
        [{ type: "tool-result", callId: "c1", name: "view", output: [words("OBSERVATION:\ntext")] }],
      ],
      [
        "step-1",
        "assistant",
        [
          words("I look."),
          { type: "tool-call", callId: "action-step1", name: "view", input: { command: "view /a" } },
        ],
      ],
      [
        "step-1:observation",
        "tool",
        [{ type: "tool-result", callId: "action-step1", name: "view", output: "more" }],
      ],
    ]);
    expect(records.find(({ id }) => id === "#3")?.body).toMatchObject({
      message: {
        meta: { "swe-agent": { execution_time: 0.1, query: [{ index: 1, message: sent[1] }] } },
      },
    });
  });

  test("a step missing from the history is read from the trajectory", async () => {
    const { messages } = await readText(
      sweAgentFormat,
      JSON.stringify({ trajectory: [first.step, second.step], history: [...opening, second.said] }),
      "x.traj",
    );
    expect(messages.map(([id]) => id)).toEqual([
      "#0",
      "#1",
      "#2",
      "step-0",
      "step-0:observation",
      "#3",
      "#4",
    ]);
  });

  test("a continued run replaces only the last observation", async () => {
    const kernel = await testKernel();
    const path = join(testFolder(), "x.traj");
    writeFileSync(
      path,
      JSON.stringify({ ...trajectory, trajectory: [first.step], history: [...opening, first.said] }),
    );
    await importSources(kernel, [path], { formats: [sweAgentFormat] });
    writeFileSync(path, JSON.stringify(trajectory));
    const report = await importSources(kernel, [path], { formats: [sweAgentFormat] });
    expect(report.totals).toMatchObject({ lost: 0, damaged: 0, found: { messages: 7, toolCalls: 2 } });
  });

  test("a cut trajectory is read up to the cut", async () => {
    const whole = JSON.stringify(trajectory);
    const { messages, items } = await readText(
      sweAgentFormat,
      whole.slice(0, whole.indexOf("The task.")),
      "x.traj",
    );
    expect(messages.map(([id]) => id)).toEqual([
      "#0",
      "#1",
      "step-0",
      "step-0:observation",
      "step-1",
      "step-1:observation",
    ]);
    expect(items.some((item) => item.type === "problem")).toBe(true);
  });

  test("a trajectory is recognized by its content, and named by run and task", async () => {
    const folder = testFolder();
    mkdirSync(join(folder, "run-3", "task-1"), { recursive: true });
    writeFileSync(join(folder, "run-3", "task-1", "task-1.traj"), JSON.stringify(trajectory));
    writeFileSync(join(folder, "run-3", "task-2.json"), JSON.stringify(trajectory));
    writeFileSync(join(folder, "run-3", "other.traj"), '{"atoms":[1,2,3]}');
    writeFileSync(join(folder, "run-3", "other.json"), '{"history":["a"],"trajectory":[{"x":1}]}');
    const sources = await sourcesAt([folder], [sweAgentFormat]);
    expect(sources.map(({ source }) => source.id)).toEqual([
      expect.stringMatching(/^run-3\/task-2-[\w-]{8}$/),
      expect.stringMatching(/^run-3\/task-1-[\w-]{8}$/),
    ]);
  });
});

const transcripts = join(process.env.LONGHAUL_DATA ?? "../shared/data", "transcripts");
const manifest = join(transcripts, "manifest.json");

describe("real trajectories", () => {
  test.skipIf(!existsSync(manifest))(
    "real trajectories have as many turns and calls as the independent count",
    async () => {
      const files: { gz: string; fmt: string; messages: number; tool_calls: number }[] = JSON.parse(
        readFileSync(manifest, "utf8"),
      );
      for (const file of files.filter(({ fmt }) => fmt === "swe-agent")) {
        const [reading] = await readAll([join(transcripts, file.gz)], [sweAgentFormat]);
        const bodies = reading?.items.flatMap((item) => (item.type === "record" ? [item.body] : [])) ?? [];
        const messages = bodies.flatMap((body) => (body.kind === "message" ? [body.message] : []));
        const parts = messages.flatMap((message) => message.parts ?? []);
        // The yardstick counts steps; system prompt, demonstration and task come before them.
        const before = messages.findIndex(({ role }) => role === "assistant");
        expect([file.gz, messages.length - before]).toEqual([file.gz, file.messages]);
        expect(parts.filter(({ type }) => type === "tool-call")).toHaveLength(file.tool_calls);
        expect(reading?.items.filter(({ type }) => type === "problem")).toEqual([]);
      }
    },
  );
});
