import { describe, expect, test } from "vitest";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith, talk } from "./support/long-session.ts";
import { runProgram } from "./support/program.ts";

describe("longhaul pin", () => {
  test("longhaul pin keeps a message in the window until it is unpinned, and pins it once", async () => {
    const store = await storeWith("long", (session) => talk(session, 60));
    const pinned = await runProgram(["pin", "long", "31", "--store", store]);
    expect(pinned.stdout).toMatch(/^#31 is now pinned: user: Look at src\/part-15\/reader\.ts\./);
    const again = await jsonHere(["pin", "long", "long#31", "--store", store]);
    expect(again.value).toEqual({ session: "long", entry: "long#31", isPinned: true, isChanged: false });
    const args = ["context", "long", "--window", "20k", "--dry-run", "--store", store];
    const { value } = await jsonHere(args);
    expect(value.pins).toMatchObject([{ entry: "long#31", seq: 31 }]);
    expect(value.next.plan).toBeTruthy();
    expect(value.next.parts.pins).toBeGreaterThan(0);
    const { stdout } = await runHere(args);
    expect(stdout).toMatch(/\nPinned\n +#31 +user: Look at src\/part-15/);
    expect(stdout).toMatch(/^P pins +[1-9]/m);
    expect((await runHere(["show", "long", "--limit", "1", "--store", store])).stdout).toContain(
      "pinned long#31",
    );
    const let1 = await runHere(["unpin", "long", "#31", "--store", store]);
    expect(let1.stdout).toMatch(/^#31 is now not pinned/);
    expect((await jsonHere(["unpin", "long", "31", "--store", store])).value.isChanged).toBe(false);
    expect((await jsonHere(args)).value.pins).toEqual([]);
  });

  test("longhaul pin refuses an entry that is not a message of the active line", async () => {
    const store = await storeWith("s", async (session) => {
      await talk(session, 2);
      await session.note("for people");
      await session.rewind(2);
    });
    const cases: readonly (readonly [readonly string[], number, string])[] = [
      [["s"], 2, "name an entry"],
      [["s", "99"], 1, "There is no entry 99 in s"],
      [["s", "5"], 1, "is of kind notice, not a message"],
      [["s", "4"], 1, "is not on the active line"],
      [["s", "first"], 2, "entry id"],
      [["nobody", "1"], 1, "There is no session"],
    ];
    for (const [args, code, words] of cases) {
      const ended = await runHere(["pin", ...args, "--store", store]);
      expect(ended.stderr).toContain(words);
      expect(ended.code).toBe(code);
    }
  });
});
