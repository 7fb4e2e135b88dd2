import fc from "fast-check";
import type { Role } from "../../../../src/kernel/index.ts";
import { cutBody, type OutgoingPiece } from "../../../../src/server/gateway/request/cut-body.ts";
import {
  type RequestMessages,
  readMessages,
} from "../../../../src/server/gateway/request/request-messages.ts";
import type { WireName, WireObject } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";

/** The APIs with tools of the gateway. */
type OlderWireName = Exclude<WireName, "google">;

/** Fate of a message, or of a call with its result. */
type Fate = "stays" | "leaves" | "changes";

/** One exchange of an agent: the user's message, calls with results, and the model's last message. */
export interface Exchange {
  readonly steps: readonly { readonly fate: Fate; readonly isThinking: boolean; readonly isSaid: boolean }[];
  readonly fates: readonly [Fate, Fate];
  readonly isPlain: boolean;
  readonly isNoted: boolean;
}

const fate = fc.constantFrom<Fate>("stays", "leaves", "changes");

/** Random exchanges. */
export const exchanges: fc.Arbitrary<readonly Exchange[]> = fc.array(
  fc.record({
    steps: fc.array(fc.record({ fate, isThinking: fc.boolean(), isSaid: fc.boolean() }), { maxLength: 3 }),
    fates: fc.tuple(fate, fate),
    isPlain: fc.boolean(),
    isNoted: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

/** A client's alternating request, its edited form, and every text that must remain. */
export interface EditedRequest {
  readonly said: RequestMessages;
  readonly elements: readonly WireObject[];
  readonly pieces: readonly OutgoingPiece[];
  readonly texts: readonly string[];
}

/** A request of one API with the edits of the exchanges; `later` unedited exchanges follow. */
export function editedRequest(api: OlderWireName, given: readonly Exchange[], later = 0): EditedRequest {
  const elements: WireObject[] = [];
  const pieces: OutgoingPiece[] = [];
  const texts: string[] = [];
  const write = WRITERS[api];
  const send = (
    own: readonly WireObject[],
    words: readonly string[],
    kind: Fate,
    changed: readonly WireObject[],
  ) => {
    const from = elements.length;
    elements.push(...own);
    if (kind === "leaves") return;
    if (kind === "stays") {
      pieces.push({ from, to: elements.length });
      texts.push(...words);
    } else if (changed.length > 0) {
      pieces.push({ elements: changed, index: from });
      texts.push(...words);
    }
  };
  for (const [at, { steps, fates, isPlain, isNoted }] of given.entries()) {
    const asked = `Question ${at}: "why"?\n`;
    if (isNoted && at > 0) {
      const note = `Note before ${at}.`;
      pieces.push({ elements: [write.says("user", note, false)] });
      texts.push(note);
    }
    const user = write.says("user", asked, isPlain);
    send([user], [asked], at === 0 ? "stays" : fates[0], [write.says("user", asked, !isPlain)]);
    for (const [order, { fate, isThinking, isSaid }] of steps.entries()) {
      const id = `call_${at}_${order}`;
      const words = isSaid ? `Step ${at}.${order}.` : undefined;
      const own = write.step(id, words, isThinking);
      const changed = words === undefined ? [] : [write.says("assistant", words, isPlain)];
      send(own, words === undefined ? [] : [words], fate, changed);
    }
    const answer = `Answer ${at}.`;
    send([write.says("assistant", answer, isPlain)], [answer], fates[1], [
      write.says("assistant", answer, !isPlain),
    ]);
  }
  const last = "What now?";
  send([write.says("user", last, true)], [last], "stays", []);
  for (let at = 0; at < later; at++) {
    send([write.says("assistant", `Later ${at}.`, true)], [], "stays", []);
    send([write.says("user", `More ${at}.`, true)], [], "stays", []);
  }
  const cut = cutBody(Buffer.from(JSON.stringify({ list: elements })), "list");
  const said = readMessages({ api: getWire(api), stored: (input) => input }, cut);
  return { said, elements, pieces, texts };
}

interface Writer {
  says(role: Role, text: string, isPlain: boolean): WireObject;
  /** A call and its result, which stay or leave together. */
  step(id: string, words: string | undefined, isThinking: boolean): readonly WireObject[];
}

const WRITERS: Readonly<Record<OlderWireName, Writer>> = {
  anthropic: {
    says: (role, text, isPlain) => ({ role, content: isPlain ? text : [{ type: "text", text }] }),
    step: (id, words, isThinking) => [
      {
        role: "assistant",
        content: [
          ...(isThinking ? [{ type: "thinking", thinking: id, signature: "s" }] : []),
          ...(words === undefined ? [] : [{ type: "text", text: words }]),
          { type: "tool_use", id, name: "read", input: {} },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "r" }] },
    ],
  },
  "openai-chat": {
    says: (role, text, isPlain) => ({ role, content: isPlain ? text : [{ type: "text", text }] }),
    step: (id, words, isThinking) => [
      {
        role: "assistant",
        content: words ?? null,
        ...(isThinking && { reasoning_content: id }),
        tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: "r" },
    ],
  },
  "openai-responses": {
    says: (role, text, isPlain) => ({
      type: "message",
      role,
      content: isPlain ? text : [{ type: role === "assistant" ? "output_text" : "input_text", text }],
    }),
    step: (id, words, isThinking) => [
      ...(isThinking ? [{ type: "reasoning", id: `rs_${id}`, summary: [] }] : []),
      ...(words === undefined
        ? []
        : [{ type: "message", role: "assistant", content: [{ type: "output_text", text: words }] }]),
      { type: "function_call", call_id: id, name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: id, output: "r" },
    ],
  },
};
