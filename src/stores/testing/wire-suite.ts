import assert from "node:assert/strict";
import { dropUndefined } from "../../model/base/drop-undefined.ts";
import type { Message, MessageInput } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import { toInlineMessages } from "../../wire/inline-messages.ts";
import type { ReplyReader, Wire, WireEvent, WireFault, WireObject } from "../../wire/wire.ts";

const usageCases: readonly WireProof[] = [
  [
    "usage: a report is parsed into counts that do not overlap",
    async (wire, { report, usage }) => assert.deepEqual(wire.parseUsage(report), usage),
  ],
  [
    "usage: a report without counts gives undefined",
    async (wire) => {
      for (const report of [undefined, null, 7, "usage", [], {}, { x_unknown: 1 }])
        assert.equal(wire.parseUsage(report), undefined);
    },
  ],
  [
    "usage: a cap lowers the input tokens of a reply, and does not change a smaller reply",
    async (wire, { body }) => {
      const text = JSON.stringify(body);
      assert.equal(wire.capUsage(text, Number.MAX_SAFE_INTEGER), undefined);
      const capped = wire.capUsage(text, 10);
      assert.ok(capped !== undefined);
      const reader = wire.createReader();
      reader.takeWhole(capped);
      const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = reader.usage ?? {};
      assert.equal(inputTokens + cacheReadTokens + cacheWriteTokens, 10);
    },
  ],
];

const replyCases: readonly WireProof[] = [
  [
    "replies: a stream gives the same message as the whole reply",
    async (wire, { events, body }) => {
      const streamed = readEvents(wire, events);
      const whole = wire.createReader();
      whole.takeWhole(JSON.stringify(body));
      const [one, other] = [streamed.message(), whole.message()];
      assert.ok(one && other);
      assert.deepEqual(await toStoredParts([one]), await toStoredParts([other]));
      assert.deepEqual(streamed.usage, whole.usage);
      assert.equal(streamed.model, whole.model);
      assert.equal(streamed.responseId, whole.responseId);
      assert.equal(streamed.stopReason, whole.stopReason);
      assert.ok(streamed.isComplete && whole.isComplete && streamed.hasBegun && whole.hasBegun);
    },
  ],
  [
    "replies: a cut stream contains no partial call",
    async (wire, { events }) => {
      const calls = (reader: ReplyReader) =>
        (reader.message()?.parts ?? []).filter(({ type }) => type === "tool-call");
      const whole = calls(readEvents(wire, events));
      assert.ok(whole.length > 0);
      for (let end = 0; end < events.length; end++) {
        const some = calls(readEvents(wire, events.slice(0, end)));
        assert.deepEqual(some, whole.slice(0, some.length));
      }
      assert.equal(readEvents(wire, events.slice(0, 1)).isComplete, false);
    },
  ],
  [
    "replies: a reader ignores everything it does not understand",
    async (wire, { events }) => {
      const strange = ["", "no JSON", "[]", "7", '{"type":"x_unknown"}'].map((data) => ({ data }));
      const reader = readEvents(
        wire,
        events.flatMap((event) => [...strange, event]),
      );
      assert.deepEqual(reader.message(), readEvents(wire, events).message());
      assert.equal(reader.isComplete, true);
    },
  ],
];

const conversation: readonly MessageInput[] = [
  { role: "system", text: "Be brief." },
  { role: "user", text: "Which files are here?" },
  {
    role: "assistant",
    parts: [
      { type: "text", text: "I will look." },
      { type: "tool-call", callId: "call_1", name: "list", input: { path: ".", depth: [1, null] } },
      { type: "tool-call", callId: "call_2", name: "read", input: {} },
    ],
  },
  { role: "tool", parts: [{ type: "tool-result", callId: "call_1", output: "a.txt\nb.txt" }] },
  {
    role: "tool",
    parts: [{ type: "tool-result", callId: "call_2", isError: true, output: "no such file" }],
  },
  { role: "assistant", text: "Two: a.txt and b.txt. “Fine”, 好." },
  { role: "user", text: "Thanks." },
];

const unavailable = async () => undefined;

const messageCases: readonly WireProof[] = [
  [
    "messages: text, calls, results and failures are decoded from a request",
    async (wire) => {
      const decoded = readRequestInputs(wire, await buildRequest(wire, conversation));
      const parts = (await toStoredParts(decoded)).flatMap(({ parts: some }) => some);
      assert.deepEqual(
        parts,
        (await toStoredParts(conversation)).flatMap(({ parts: some }) => some),
      );
      const roles = (inputs: readonly MessageInput[]) =>
        inputs.map(({ role }) => role).filter((role, index, all) => role !== all[index - 1]);
      assert.deepEqual(roles(decoded), roles(conversation));
    },
  ],
  [
    "messages: media are decoded from a request",
    async (wire) => {
      const seen: MessageInput = {
        role: "user",
        parts: [
          { type: "text", text: "Look." },
          { type: "data", data: PIXEL },
        ],
      };
      const decoded = readRequestInputs(wire, await buildRequest(wire, [seen]));
      assert.deepEqual(await toStoredParts(decoded), await toStoredParts([seen]));
    },
  ],
  [
    "messages: a call without a result gets a placeholder, because providers refuse it otherwise",
    async (wire) => {
      const open = conversation.slice(0, 3);
      const request = await buildRequest(wire, [...open, { role: "user", text: "Go on." }]);
      const results = (request[wire.messagesField] as readonly WireObject[]).slice(open.length - 1);
      for (const id of ["call_1", "call_2"]) assert.ok(JSON.stringify(results).includes(id), id);
    },
  ],
  [
    "messages: each message covers its own elements, in order",
    async (wire, { elements }) => {
      let before = 0;
      for (const { from, to } of wire.decode(elements)) {
        assert.ok(from >= before && to > from && to <= elements.length);
        before = to;
      }
      assert.ok(elements.every((element) => wire.isMessage(element)));
    },
  ],
  [
    "messages: the ids of calls match those of their results",
    async (wire, { elements }) => {
      const parts = wire.decode(elements).flatMap(({ input }) => input.parts ?? []);
      const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []));
      const results = parts.flatMap((part) => (part.type === "tool-result" ? [part.callId] : []));
      assert.ok(calls.length > 0);
      assert.deepEqual(results, calls);
      for (const id of calls) assert.ok(JSON.stringify(elements).includes(JSON.stringify(id)));
    },
  ],
  [
    "messages: unedited elements stay the same",
    async (wire, sample) => {
      for (const own of await logSample(wire, sample.elements))
        assert.deepEqual(await wire.encodeEdited({ ...own.original }, own, unavailable), own.elements);
    },
  ],
  [
    "messages: an edit of one part keeps unknown fields",
    async (wire, sample) => {
      for (const own of await logSample(wire, sample.elements)) {
        const at = own.original.parts.findIndex(({ type }) => type === "text");
        if (at < 0) continue;
        const parts = own.original.parts.with(at, { type: "text", text: "EDITED" });
        const encoded = JSON.stringify(await wire.encodeEdited({ ...own.original, parts }, own, unavailable));
        assert.ok(encoded.includes("EDITED"));
        for (const mark of ['"x_unknown":"kept"', '"x_block":"kept"'])
          assert.equal(encoded.includes(mark), JSON.stringify(own.elements).includes(mark), mark);
      }
    },
  ],
  [
    "messages: unknown fields of a block survive the log",
    async (wire, { elements }) => {
      const inputs = wire.decode(elements).map(({ input }) => input);
      assert.ok(JSON.stringify(await buildRequest(wire, inputs)).includes('"x_block":"kept"'));
    },
  ],
];

const STATUSES: Readonly<Record<WireFault["kind"], number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  overflow: 400,
  rate_limit: 429,
  budget: 429,
  stopped: 400,
  unavailable: 503,
  timeout: 504,
  internal: 500,
};

const FAULTS = Object.entries(STATUSES).map(
  ([kind, status]): WireFault => ({
    kind: kind as WireFault["kind"],
    status,
    message: `failed: ${kind}`,
  }),
);

const faultCases: readonly WireProof[] = [
  [
    "faults: the message of each fault is read back from its body",
    async (wire) => {
      for (const fault of FAULTS) {
        const failure = wire.parseFailure(fault.status, JSON.stringify(wire.encodeFault(fault)));
        assert.equal(failure.status, fault.status);
        assert.ok(failure.message?.includes(fault.message), fault.kind);
      }
    },
  ],
  [
    "faults: a body that is not JSON is kept as text",
    async (wire) => assert.deepEqual(wire.parseFailure(502, "<html>"), { status: 502, body: "<html>" }),
  ],
  [
    "faults: an error inside a stream ends the reply as failed",
    async (wire, { events }) => {
      for (const fault of FAULTS) {
        const reader = wire.createReader();
        reader.take(events[0] as WireEvent);
        for (const event of parseEvents(wire.encodeFaultEvent(fault))) reader.take(event);
        assert.ok(reader.failure?.message?.includes(fault.message), fault.kind);
        assert.equal(reader.isComplete, false);
      }
    },
  ],
];

/** One requirement of every wire; `run` rejects if the wire does not meet it. */
export interface WireCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** One requirement of every wire: its name, and a proof. */
type WireProof = readonly [name: string, prove: (wire: Wire, sample: WireSample) => Promise<void>];

/** A one-pixel PNG. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Traffic of a provider in the format of the wire under test. */
export interface WireSample {
  /**
   * Elements of a request with the field `"x_unknown": "kept"` on a message and `"x_block": "kept"` on a block of
   * content, a call and its result.
   */
  readonly elements: readonly WireObject[];
  /** A streamed reply with text and a tool call. */
  readonly events: readonly WireEvent[];
  /** The same reply, not streamed. It reports more than 10 input tokens. */
  readonly body: WireObject;
  /** A usage report, and its counts. */
  readonly report: WireObject;
  readonly usage: Usage;
}

/** The contract of a wire, for any test runner: `for (const { name, run } of wireSuite(wire, sample)) test(name, run)`. */
export function wireSuite(wire: Wire, sample: WireSample): readonly WireCase[] {
  const proofs = [...messageCases, ...replyCases, ...usageCases, ...faultCases];
  return proofs.map(([name, prove]) => ({ name, run: async () => prove(wire, sample) }));
}

function readEvents(wire: Wire, events: readonly WireEvent[]): ReplyReader {
  const reader = wire.createReader();
  for (const event of events) reader.take(event);
  return reader;
}

/** Splits a stream in wire format into its events. */
function parseEvents(text: string): readonly WireEvent[] {
  assert.ok(text.endsWith("\n\n"));
  return text
    .trimEnd()
    .split("\n\n")
    .map((block) => {
      const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s) as [string, string]));
      const event = fields.get("event");
      return { data: fields.get("data") ?? "", ...dropUndefined({ event }) };
    });
}

/** The messages of the sample, with the elements that they were made from. */
async function logSample(
  wire: Wire,
  elements: readonly WireObject[],
): Promise<readonly { readonly original: Message; readonly elements: readonly WireObject[] }[]> {
  const decoded = wire.decode(elements);
  const { messages } = await toInlineMessages(decoded.map(({ input }) => input));
  return messages.map((original, index) => {
    const { from, to } = decoded[index] as (typeof decoded)[number];
    return { original, elements: elements.slice(from, to) };
  });
}

/** A request from logged messages. */
async function buildRequest(wire: Wire, inputs: readonly MessageInput[]): Promise<WireObject> {
  const { messages, source } = await toInlineMessages(inputs);
  const line = async function* () {
    yield* messages;
  };
  const { lead, elements } = await wire.encodeRequest(line(), source);
  const list: WireObject[] = [];
  for await (const element of elements) list.push(element);
  return { ...lead, [wire.messagesField]: list };
}

/** The messages of a request. */
function readRequestInputs(wire: Wire, request: WireObject): readonly MessageInput[] {
  const elements = request[wire.messagesField] as readonly WireObject[];
  return [...wire.decodeLead(request), ...wire.decode(elements).map(({ input }) => input)];
}

/** Roles and parts of messages, as a log would store them. */
async function toStoredParts(
  inputs: readonly MessageInput[],
): Promise<readonly Pick<Message, "role" | "parts">[]> {
  const { messages } = await toInlineMessages(inputs);
  return messages.map(({ role, parts }) => ({ role, parts }));
}
