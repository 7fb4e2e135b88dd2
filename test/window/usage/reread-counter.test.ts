import { expect, test } from "vitest";
import { RereadCounter } from "../../../src/kernel/faces/window.ts";
import type { Json, Message } from "../../../src/kernel/index.ts";

let calls = 0;
function call(name: string, input: Json): Message {
  return { role: "assistant", parts: [{ type: "tool-call", callId: `${++calls}`, name, input }] };
}

test("a read of a file that was read before and has not changed since counts as a re-read", () => {
  const counter = new RereadCounter();
  const read = (file_path: string, range: object = {}) =>
    counter.observe(call("Read", { file_path, ...range } as Json));
  read("/a.ts");
  read("/b.ts");
  expect(counter.count).toBe(0);
  read("/a.ts");
  read("/a.ts", { offset: 10, limit: 5 });
  expect(counter.count).toBe(2);
  counter.observe(call("Edit", { file_path: "/a.ts", old_string: "x", new_string: "y" }));
  read("/a.ts");
  expect(counter.count).toBe(2);
  read("/c.ts", { offset: 1, limit: 50 });
  read("/c.ts", { offset: 100, limit: 50 });
  expect(counter.count).toBe(2);
  counter.observe({ role: "user", parts: [{ type: "text", text: "Read /a.ts" }] });
  expect(counter.count).toBe(2);
});

test("a read by a program of the provider does not count, because the agent does not see its result", () => {
  const counter = new RereadCounter();
  const read = call("Read", { file_path: "/a.ts" });
  const meta = { anthropic: { extras: { 0: { caller: { type: "code_execution_20260120" } } } } };
  counter.observe({ ...read, meta });
  counter.observe(read);
  expect(counter.count).toBe(0);
  counter.observe({ ...read, meta });
  expect(counter.count).toBe(0);
  counter.observe(read);
  expect(counter.count).toBe(1);
});
