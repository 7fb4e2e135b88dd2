import { describe, expect, test } from "vitest";
import { type CallerMessage, Conversation } from "../../../src/kernel/calls/conversation.ts";
import { type EntryId, type Message, type Session, textOfMessage } from "../../../src/kernel/index.ts";
import { testKernel } from "../../support/kernel.ts";

const said = (text: string): CallerMessage => ({ input: () => ({ role: "user", text }), key: text });
const keyOf = (message: Message) => textOfMessage(message);

async function world() {
  const kernel = await testKernel();
  const session = await kernel.session("one");
  const talk = (of: Session = session) => new Conversation<CallerMessage>(of, keyOf);
  const reply = (talk: Conversation<CallerMessage>, last: EntryId | undefined, text: string, of = session) =>
    talk
      .appendAfter(last, async () => [await of.append({ role: "assistant", text })])
      .then(([entry]) => entry);
  const line = async (of = session) =>
    (await of.page({ kinds: ["message"] })).entries.map((entry) =>
      entry.kind === "message" ? textOfMessage(entry.message) : "",
    );
  return { kernel, session, talk, reply, line };
}

describe("messages after an entry", () => {
  test("messages after an entry follow it, and are not stored twice", async () => {
    const { talk, reply, line } = await world();
    const one = talk();
    const first = await reply(one, (await one.takeNewMessages([said("a")])).last, "A");
    const last = first?.id as EntryId;
    await one.takeMessagesAfter(last, [said("b"), said("c")]);
    await one.takeMessagesAfter(last, [said("b"), said("c"), said("d")]);
    expect(await line()).toEqual(["a", "A", "b", "c", "d"]);
  });

  test("different messages after the same entry become branches, and every branch is found again", async () => {
    const { session, talk, reply, line } = await world();
    const one = talk();
    const start = (await reply(one, (await one.takeNewMessages([said("a")])).last, "A"))?.id as EntryId;
    const ends: EntryId[] = [];
    for (const way of Array.from({ length: 20 }, (_, index) => `way ${index}`)) {
      const { last } = await one.takeMessagesAfter(start, [said(way)]);
      ends.push((await reply(one, last, `to ${way}`))?.id as EntryId);
    }
    // As if newly opened: only the log is known.
    const two = talk(session);
    for (const at of [3, 17, 0, 19]) {
      await two.takeMessagesAfter(ends[at] as EntryId, [said("on")]);
      expect(await line()).toEqual(["a", "A", `way ${at}`, `to way ${at}`, "on"]);
    }
  });

  test("messages after an entry are appended again in the right place if somebody else has written meanwhile", async () => {
    const { session, talk, line } = await world();
    const one = talk();
    const { last } = await one.takeNewMessages([said("a")]);
    await one.readLine();
    await talk().takeNewMessages([said("b")]);
    const heads: (number | undefined)[] = [];
    const [entry] = await one.appendAfter(last, async (expectedHead) => {
      heads.push(expectedHead);
      const options = expectedHead === undefined ? {} : { expectedHead };
      return [await session.append({ role: "assistant", text: "A" }, options)];
    });
    expect(heads).toEqual([1, undefined]);
    expect(await line()).toEqual(["a", "A"]);
    expect((await session.read({ from: 1 })).filter(({ kind }) => kind === "message")).toHaveLength(3);
    expect((await session.entry(entry?.id as EntryId))?.kind).toBe("message");
  });

  test("messages after an entry stay together when others write to the same line at the same time", async () => {
    const { kernel, session, talk, reply, line } = await world();
    const one = talk();
    const start = (await reply(one, (await one.takeNewMessages([said("a")])).last, "A"))?.id as EntryId;
    const ways = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const own = await kernel.session("one");
        const other = talk(own);
        const { last } = await other.takeMessagesAfter(start, [said(`way ${index}`)]);
        const end = await reply(other, last, `to way ${index}`, own);
        return end?.id as EntryId;
      }),
    );
    for (const [index, end] of ways.entries()) {
      await talk().takeMessagesAfter(end, []);
      await session.rewind(end);
      expect(await line()).toEqual(["a", "A", `way ${index}`, `to way ${index}`]);
    }
  });

  test("messages after a missing entry are appended last", async () => {
    const { talk, line } = await world();
    const one = talk();
    await one.takeNewMessages([said("a")]);
    await one.takeMessagesAfter("one#99", [said("b")]);
    expect(await line()).toEqual(["a", "b"]);
  });
});
