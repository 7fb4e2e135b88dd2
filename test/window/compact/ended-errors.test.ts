import { expect, test } from "vitest";
import type { Json } from "../../../src/model/json.ts";
import { findEnding, matchTrouble, readTrouble } from "../../../src/window/compact/ended-errors.ts";
import type { SourceMessage } from "../../../src/window/compact/extractive/summary-candidate.ts";
import { listWorkSteps } from "../../../src/window/compact/work-steps.ts";

/** The steps of calls, each with its output. */
function act(...calls: readonly (readonly [name: string, input: Record<string, Json>, output: string])[]) {
  const messages = calls.flatMap(([name, input, output], index): SourceMessage[] => {
    const callId = `c${index}`;
    const [seq, at] = [2 * index + 1, 1_000 * index];
    return [
      { seq, at, message: { role: "assistant", parts: [{ type: "tool-call", callId, name, input }] } },
      {
        seq: seq + 1,
        at,
        message: {
          role: "tool",
          parts: [{ type: "tool-result", callId, isError: false, output: [{ type: "text", text: output }] }],
        },
      },
    ].map((one) => ({ ...one, cite: `s#${one.seq}` }) as SourceMessage);
  });
  return listWorkSteps(messages);
}

const edit = (file: string) => ["Edit", { file_path: file, old_string: "a", new_string: "b" }, "ok"] as const;
const run = (command: string, output: string) => ["Bash", { command }, output] as const;
const ERROR = "src/login.ts(41,7): error TS2304: Cannot find name 'token'.";

function endingOf(steps: ReturnType<typeof act>) {
  const [first] = steps;
  return first && findEnding(steps, first, readTrouble(first.troubles[0] ?? ""), 1);
}

test("an error that only moved to another line has not ended", () => {
  const moved = ERROR.replace("41,7", "44,7");
  const steps = act(
    run("npx tsc", ERROR),
    edit("/a/x.ts"),
    run("npx tsc", moved),
    edit("/a/y.ts"),
    run("npx tsc", ""),
  );
  expect(endingOf(steps)?.confirmed.result).toBe("s#10");
});

test("an error that came back was ended by the work after its last sighting only", () => {
  const steps = act(
    run("npx tsc", ERROR),
    edit("/a/x.ts"),
    run("npx tsc", "Done."),
    run("npx tsc", ERROR),
    edit("/a/y.ts"),
    run("npx tsc", "Done."),
  );
  expect(endingOf(steps)?.hasReturned).toBe(true);
  expect(endingOf(steps.slice(3))).toMatchObject({ hasReturned: false, steps: [{ paths: ["/a/y.ts"] }] });
});

test("edits of a file that the error names come before later edits of others", () => {
  const steps = act(run("npx tsc", ERROR), edit("/a/login.ts"), edit("/a/y.ts"), run("npx tsc", ""));
  expect(endingOf(steps)?.steps.map(({ paths }) => paths[0])).toEqual(["/a/login.ts", "/a/y.ts"]);
});

test("looking on, storing changes away and trying again end no error, other arguments do", () => {
  const looked = act(
    run("npm test", ERROR),
    run("git stash", "ok"),
    run("cat x", "y"),
    run("npm test", "fine"),
  );
  expect(endingOf(looked)).toBeUndefined();
  const other = act(run("npm test", ERROR), run("npm test -- --update", "fine"));
  expect(endingOf(other)?.steps.map(({ text }) => text)).toEqual(["npm test -- --update"]);
});

test("work with an edit fits better than commands alone", () => {
  const byCommand = act(run("npm test", ERROR), run("npm install token", "ok"), run("npm test", "fine"));
  const byEdit = act(run("npm test", ERROR), edit("/a/login.ts"), run("npm test", "fine"));
  expect(endingOf(byEdit)?.score).toBeGreaterThan(endingOf(byCommand)?.score ?? 1);
});

test("a line matches itself best, then the same line with other numbers, then a line that contains it", () => {
  const lines = [
    ERROR,
    ERROR.replace("41", "52"),
    `build: ${ERROR}`,
    "warning: token is unused in this file",
  ];
  const scores = lines.map((line) => matchTrouble([readTrouble(ERROR)], readTrouble(line), () => 1));
  expect(scores).toEqual([1, 0.99, 0.98, 0]);
});
