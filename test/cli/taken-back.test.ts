import { expect } from "vitest";
import { openKernel } from "../../src/kernel/index.ts";
import { testFolder } from "../support/folder.ts";
import { proofTest } from "../support/proof.ts";
import { jsonHere, runHere } from "./support/here.ts";

const FACT = "The locker opens with the code xylophone90210.";

proofTest(
  "the command line never recalls messages that were rewound, erased, forgotten or belong to another person",
  async () => {
    const path = testFolder();
    const store = ["--store", path];
    const use = async (work: (kernel: Awaited<ReturnType<typeof openKernel>>) => Promise<unknown>) => {
      await using kernel = await openKernel({ path });
      await work(kernel);
    };
    const recalled = async (...options: readonly string[]) => {
      const { value } = await jsonHere(["recall", "locker code xylophone90210", ...options, ...store]);
      return value.hits
        .filter(({ text }: { readonly text: string }) => text.includes("xylophone"))
        .map(({ session }: { readonly session: string }) => session);
    };
    await use(async (kernel) => {
      const session = await kernel.session("@alice/1");
      for (const text of ["Hello.", FACT]) await session.append({ role: "user", text });
    });
    expect(await recalled()).toEqual(["@alice/1"]);
    expect(await recalled("--as", "alice")).toEqual(["@alice/1"]);
    expect(await recalled("--as", "bob")).toEqual([]);
    expect(await recalled("--prefix", "@bob/")).toEqual([]);

    await use(async (kernel) => (await kernel.session("@alice/1")).rewind(1));
    expect(await recalled()).toEqual([]);
    expect(await recalled("--active")).toEqual([]);
    expect(await recalled("--rewound")).toEqual(["@alice/1"]);
    const sessions = await runHere(["recall", "xylophone90210", "--sessions", ...store]);
    expect(sessions.stdout).not.toContain("xylophone");
    const both = await runHere(["recall", "locker", "--active", "--rewound", ...store]);
    expect(both.stderr).toContain("--active and --rewound cannot be combined");

    await runHere(["forget", "@alice/1#2", "--yes", ...store]);
    expect(await recalled("--rewound")).toEqual([]);

    await runHere(["remember", FACT, ...store]);
    expect(await recalled()).toEqual(["memory:default"]);
    expect(await recalled("--agent", "other")).toEqual([]);
    await runHere(["forget", "memory:default#1", "--yes", ...store]);
    expect(await recalled("--rewound", "--trust", "rejected", "--outdated")).toEqual([]);
  },
);
