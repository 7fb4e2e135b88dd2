import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { alternatePieces } from "../../../../src/server/gateway/outgoing/alternate-pieces.ts";
import { findMarkers, moveLostMarkers } from "../../../../src/server/gateway/outgoing/cache-markers.ts";
import { findNewViolations, findRepeatedRoles } from "../../../../src/server/gateway/outgoing/check-rules.ts";
import { encodePieces, listPieceElements } from "../../../../src/server/gateway/outgoing/outgoing-pieces.ts";
import { cutBody, type OutgoingPiece } from "../../../../src/server/gateway/request/cut-body.ts";
import { readMessages } from "../../../../src/server/gateway/request/request-messages.ts";
import type { WireName, WireObject } from "../../../../src/wire/wire.ts";
import { getWire } from "../../../../src/wire/wires.ts";
import { editedRequest, exchanges } from "./random-window.ts";

const APIS = ["anthropic", "openai-chat", "openai-responses"] as const;

function saidOf(api: WireName, elements: readonly WireObject[]) {
  const cut = cutBody(Buffer.from(JSON.stringify({ list: elements })), "list");
  return readMessages({ api: getWire(api), stored: (input) => input }, cut);
}

const bytesOf = (said: ReturnType<typeof saidOf>, pieces: readonly OutgoingPiece[]) =>
  Buffer.concat([...encodePieces(said.cut, pieces)]).toString();

const newRules = (...args: Parameters<typeof findNewViolations>) =>
  findNewViolations(...args).map(({ rule }) => rule);

describe.each(APIS)("an edited window over %s", (api) => {
  test("an edited window alternates roles wherever the client's request did, and keeps each text in one piece", () => {
    fc.assert(
      fc.property(exchanges, (given) => {
        const { said, elements, pieces, texts } = editedRequest(api, given);
        fc.pre(findRepeatedRoles(api, elements).length === 0);
        const merged = alternatePieces(api, said, pieces);
        const after = listPieceElements(said.cut, merged);
        const broken = newRules(api, elements, listPieceElements(said.cut, pieces));
        expect(newRules(api, elements, after)).toEqual(broken.filter((rule) => rule !== "roles-repeat"));
        expect(findRepeatedRoles(api, after)).toEqual([]);
        expect(after[0]?.role).toBe("user");
        const bytes = bytesOf(said, merged);
        let from = 0;
        for (const text of texts) {
          const at = bytes.indexOf(JSON.stringify(text).slice(1, -1), from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at;
        }
      }),
    );
  });

  test("a later window begins with the earlier edited window, byte for byte", () => {
    fc.assert(
      fc.property(exchanges, (given) => {
        const [early, late] = [editedRequest(api, given), editedRequest(api, given, 2)];
        const sent = bytesOf(early.said, alternatePieces(api, early.said, early.pieces));
        const later = bytesOf(late.said, alternatePieces(api, late.said, late.pieces));
        expect(later.slice(0, sent.length - 1)).toBe(sent.slice(0, -1));
      }),
    );
  });

  test("an edited window keeps messages of one role in a row if the client sent such a row", () => {
    const user = (text: string): WireObject => ({ role: "user", content: text });
    const said = saidOf(api, [
      user("a"),
      user("b"),
      user("c"),
      { role: "assistant", content: "d" },
      user("e"),
    ]);
    const edited: readonly OutgoingPiece[] = [
      { from: 0, to: 1 },
      { elements: [user("B")], index: 1 },
      { from: 2, to: 3 },
      { from: 4, to: 5 },
    ];
    expect(listPieceElements(said.cut, alternatePieces(api, said, edited))).toEqual([
      user("a"),
      user("B"),
      user("c\n\ne"),
    ]);
  });
});

describe("an edited window over anthropic", () => {
  const text = (words: string, extra: WireObject = {}): WireObject => ({
    type: "text",
    text: words,
    ...extra,
  });
  const user = (...content: readonly WireObject[]): WireObject => ({ role: "user", content });
  const assistant = (...content: readonly WireObject[]): WireObject => ({ role: "assistant", content });
  const use: WireObject = { type: "tool_use", id: "1", name: "read", input: {} };
  const result: WireObject = { type: "tool_result", tool_use_id: "1", content: "r" };
  const mark = { cache_control: { type: "ephemeral" } };

  test("a tool result comes before a note in a merged message", () => {
    const said = saidOf("anthropic", [user(text("a")), assistant(use), user(result, text("b"))]);
    const pieces: readonly OutgoingPiece[] = [
      { from: 0, to: 2 },
      { elements: [user(text("note"))] },
      { from: 2, to: 3 },
    ];
    const after = listPieceElements(said.cut, alternatePieces("anthropic", said, pieces));
    expect(after.at(-1)).toEqual(user(result, text("note"), text("b")));
  });

  test("merging messages keeps every cache marker", () => {
    const elements = [
      user(text("a")),
      assistant(text("b")),
      user(text("c", mark)),
      assistant(text("d")),
      user(text("e", mark)),
    ];
    const said = saidOf("anthropic", elements);
    const pieces: readonly OutgoingPiece[] = [
      { from: 0, to: 1 },
      { elements: [user(text("note"))] },
      { from: 2, to: 3 },
      { from: 4, to: 5 },
    ];
    const merged = listPieceElements(
      said.cut,
      alternatePieces("anthropic", said, moveLostMarkers(said.cut, pieces)),
    );
    expect(merged).toEqual([user(text("a"), text("note"), text("c", mark), text("e", mark))]);
    expect(findMarkers(merged)).toHaveLength(2);
  });

  test("a message with thinking is never merged", () => {
    const thinking: WireObject = { type: "thinking", thinking: "t", signature: "s" };
    const elements = [
      user(text("a")),
      assistant(text("b")),
      user(text("c")),
      assistant(thinking, text("d")),
      user(text("e")),
    ];
    const said = saidOf("anthropic", elements);
    const pieces: readonly OutgoingPiece[] = [
      { from: 0, to: 2 },
      { from: 3, to: 5 },
    ];
    const after = listPieceElements(said.cut, alternatePieces("anthropic", said, pieces));
    expect(after).toEqual(elements.toSpliced(2, 1));
    expect(findNewViolations("anthropic", elements, after)).toEqual([]);
  });
});

describe("a note between a result and the next call", () => {
  const call = (id: string) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
  });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: `lines of ${id}` });
  const elements = [{ role: "user", content: "Fix it." }, call("a"), result("a"), call("b"), result("b")];
  const note = { role: "user", content: "[2 messages left out]" };

  test("a note stands in the result, so that it does not end the turn", () => {
    const said = saidOf("openai-chat", elements);
    const pieces = [
      { from: 0, to: 3 },
      { elements: [note], isNote: true as const },
      { from: 3, to: 5 },
    ];
    expect(listPieceElements(said.cut, alternatePieces("openai-chat", said, pieces))).toEqual(
      elements.with(2, { ...result("a"), content: "lines of a\n\n[2 messages left out]" }),
    );
  });

  test("a message of a person that only the log has stays a message of its own", () => {
    const said = saidOf("openai-chat", elements);
    const pieces = [{ from: 0, to: 3 }, { elements: [note] }, { from: 3, to: 5 }];
    expect(listPieceElements(said.cut, alternatePieces("openai-chat", said, pieces))).toEqual(
      elements.toSpliced(3, 0, note),
    );
  });
});
