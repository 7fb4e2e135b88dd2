import { describe, expect, test } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";
import { storeWith, storeWithCut, talk } from "./support/long-session.ts";
import { runProgram } from "./support/program.ts";

/** The window of the next call, as text. */
async function windowOf(store: string): Promise<string> {
  await using kernel = await openKernel({ path: store });
  await using session = await kernel.session("long");
  const window = session.window({ model: "claude-sonnet-4-5" });
  return JSON.stringify((await window.look()).messages);
}

describe("longhaul revert", () => {
  proofTest(
    "longhaul revert takes back the newest overlay in effect, says what changed, and can itself be reverted",
    async () => {
      const { store, overlay } = await storeWithCut();
      const cut = await windowOf(store);
      const { code, stdout } = await runProgram(["revert", "long", "--store", store]);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        new RegExp(
          `^#\\d+ reverted the change at #${overlay}\nwindow: [\\d,]+ → [\\d,]+ tokens \\(\\+\\d+%\\), \\d+ → 121 messages\n`,
        ),
      );
      expect(stdout).toContain("\nheld: what came back stays until the limit forces it out\n");
      expect(JSON.parse(await windowOf(store))).toHaveLength(121);
      const shown = await runHere(["context", "long", "--store", store]);
      expect(shown.stdout).toMatch(
        /\nHeld: brought back by a revert.*\n +#\d+ +\d+ messages, [\d,]+ tokens; release: longhaul revert long \d+/,
      );
      const undo = /undo and release: longhaul revert long (\d+)/.exec(stdout)?.[1] as string;
      const undone = await jsonHere(["revert", "long", undo, "--store", store]);
      expect(undone.value).toMatchObject({
        session: "long",
        isChanged: true,
        isHeld: false,
        messages: { before: 121 },
      });
      expect(await windowOf(store)).toBe(cut);
    },
  );

  proofTest(
    "longhaul revert refuses an overlay that is not in effect, another entry, and an unedited session",
    async () => {
      const { store, overlay } = await storeWithCut();
      await runHere(["revert", "long", String(overlay), "--store", store]);
      const twice = await runHere(["revert", "long", `#${overlay}`, "--store", store]);
      expect([twice.code, twice.stdout]).toEqual([1, ""]);
      expect(twice.stderr).toContain(
        `Overlay #${overlay} is no longer in force; "longhaul revert long --list"`,
      );
      const wrong = await jsonHere(["revert", "long", "1", "--store", store]);
      expect([wrong.code, wrong.value.error.code]).toEqual([1, "ENTRY_NOT_FOUND"]);
      const nothing = await runHere(["revert", "long", "--store", store]);
      expect(nothing.stderr).toContain("There is nothing to revert");
      expect((await runHere(["revert", "long", "soon", "--store", store])).code).toBe(2);
    },
  );

  proofTest("longhaul revert takes back one edit of a plan by its number in the list", async () => {
    const { store, overlay } = await storeWithCut();
    const listed = await runHere(["revert", "long", String(overlay), "--list", "--store", store]);
    const numbers = listed.stdout.trim().split("\n");
    expect(numbers[0]).toMatch(/^--edit 0 {1,2}(hid|summarized|replaced)/);
    const { code, value } = await jsonHere(["revert", "long", "--edit", "0", "--store", store]);
    expect([code, value.isChanged]).toEqual([0, true]);
    const beyond = await runHere(["revert", "long", "--edit", String(numbers.length), "--store", store]);
    expect(beyond.code).toBe(2);
    expect(beyond.stderr).toContain("the number of an edit of that plan");
  });

  test("longhaul revert --to returns to an earlier time", async () => {
    const store = await storeWith("long", async (session) => {
      await talk(session, 3);
      for (const seq of [1, 2])
        await session.overlays.add(
          { type: "hide", ranges: [{ session: "long", from: seq, to: seq }] },
          "by hand",
        );
    });
    const future = new Date(Date.now() + 3_600_000).toISOString();
    const later = await runHere(["revert", "long", "--to", future, "--store", store]);
    expect([later.code, later.stdout]).toEqual([0, "No edits since then.\n"]);
    const { value } = await jsonHere(["revert", "long", "--to", "30m", "--store", store]);
    expect(value.messages).toEqual({ before: 4, after: 6 });
    for (const time of ["soon", "30x", "2026-02-99"]) {
      const wrong = await runHere(["revert", "long", "--to", time, "--store", store]);
      expect(wrong.code).toBe(2);
      expect(wrong.stderr).toContain("--to is");
    }
  });

  proofTest("longhaul revert --list shows for each overlay whether it is in effect", async () => {
    const { store, overlay } = await storeWithCut();
    await runHere(["revert", "long", "--store", store]);
    const { stdout } = await runHere(["revert", "long", "--list", "--store", store]);
    expect(stdout).toMatch(new RegExp(`^#${overlay} .*longhaul rebuilt the window .* reverted$`, "m"));
    const { value } = await jsonHere(["revert", "long", "--list", "--store", store]);
    expect(value.overlays).toMatchObject([
      { type: "revert", isHolding: true },
      { type: "plan", seq: overlay, isHolding: false },
    ]);
    const none = await storeWith("long", (session) => talk(session, 1));
    expect((await runHere(["revert", "long", "--list", "--store", none])).stdout).toContain("No overlays");
  });

  proofTest(
    "longhaul revert takes back in a fork what was cut before the fork, and leaves the other conversation unchanged",
    async () => {
      const { store, overlay } = await storeWithCut();
      {
        await using kernel = await openKernel({ path: store });
        await using session = await kernel.session("long");
        await using fork = await session.fork({ id: "fork" });
        await fork.append({ role: "user", text: "Another way." });
      }
      const cut = await windowOf(store);
      await runHere(["pin", "fork", "long#31", "--store", store]);
      const shown = await runHere(["context", "fork", "--store", store]);
      expect(shown.stdout).toContain(`\nlong#${overlay} longhaul rebuilt the window\n`);
      expect(shown.stdout).toMatch(/\nPinned\n +long#31 /);
      const { value } = await jsonHere(["revert", "fork", `long#${overlay}`, "--store", store]);
      expect(value).toMatchObject({ session: "fork", isChanged: true, messages: { after: 122 } });
      expect(await windowOf(store)).toBe(cut);
    },
  );

  proofTest("longhaul revert refuses options that contradict each other", async () => {
    const { store } = await storeWithCut();
    for (const args of [
      ["5", "--to", "2h"],
      ["--to", "2h", "--edit", "1"],
      ["--list", "--to", "2h"],
      ["--edit=-1"],
    ])
      expect((await runHere(["revert", "long", ...args, "--store", store])).code).toBe(2);
    expect((await runHere(["revert", "--store", store])).stderr).toContain("name a session");
  });
});
