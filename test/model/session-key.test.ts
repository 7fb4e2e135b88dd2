import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatSessionKey,
  getConversationId,
  isNamedSession,
  isWithinNamedSession,
  parseSessionKey,
} from "../../src/model/session-key.ts";

const piece = fc.constantFrom(
  ..."repo feature / agent-0123abcd /agent-0123abcd /title- ~ : %2F -2 é".split(" "),
  `~${"0".repeat(32)}`,
  "long".repeat(60),
);
const own = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
const child = fc.option(
  fc.array(fc.constantFrom("agent-0123abcd", "title-89abcdef-2", "compaction-"), {
    minLength: 1,
    maxLength: 2,
  }),
  { nil: undefined },
);

function build(person: string, client: string, id: string, below: readonly string[] | undefined) {
  const key = { person, client, own: id };
  return formatSessionKey(below ? { ...key, child: below.join("/") } : key);
}

test("two conversations have one session id only if all their parts are equal", () => {
  fc.assert(
    fc.property(own, child, own, child, (one, below, other, otherBelow) => {
      const isEqual = one === other && below?.join("/") === otherBelow?.join("/");
      const ids = [build("local", "codex", one, below), build("local", "codex", other, otherBelow)];
      expect(ids[0] === ids[1]).toBe(isEqual);
    }),
  );
});

test("the conversation of a secondary session is read from its id, whatever its client has named it", () => {
  fc.assert(
    fc.property(own, child, (id, below) => {
      const root = build("@ann", "claude-code", id, undefined);
      expect(getConversationId(build("@ann", "claude-code", id, below))).toBe(root);
      expect(parseSessionKey(root)).toMatchObject({ person: "@ann", client: "claude-code" });
      expect(parseSessionKey(root)?.child).toBeUndefined();
    }),
  );
});

test("a plain id of a client stands in its session id as it is", () => {
  expect(build("local", "openai-chat", "repo/feature", undefined)).toBe("local/openai-chat:repo/feature");
});

test("a conversation is named by its own id, and not by the end of another one's", () => {
  expect(isNamedSession("local/codex:feature", "feature")).toBe(true);
  expect(isNamedSession("local/codex:repo/feature", "repo/feature")).toBe(true);
  expect(isNamedSession("local/codex:repo/feature", "feature")).toBe(false);
  expect(isNamedSession("claude-code/0123", "0123")).toBe(true);
  expect(isNamedSession("local/codex:repo/agent-0123abcd", "repo")).toBe(false);
  expect(isWithinNamedSession("local/codex:repo/agent-0123abcd", "repo")).toBe(true);
  expect(isWithinNamedSession("local/codex:repo/feature", "repo")).toBe(false);
  expect(isWithinNamedSession("claude-code/0123/agent-7", "0123")).toBe(true);
});
