import { expect } from "vitest";
import { testFolder } from "../support/folder.ts";
import { proofCases, sizedTest } from "../support/proof.ts";
import { crashWriter, PLACES, type WriterPlace } from "./rounds.ts";

/** In the everyday suite, one place each: inside of a commit, between commit and acknowledgment, with a blob, in a draft. */
const everyday: readonly WriterPlace[] = [
  { way: "batch", call: "entries.append", moment: "inside" },
  { way: "group", call: "entries.append", moment: "after" },
  { way: "image", call: "blobs.write", moment: "after" },
  { way: "draft", call: "drafts.write", moment: "before" },
];

sizedTest.each(proofCases([...everyday, ...PLACES], everyday.length))(
  "every acknowledged append survives a SIGKILL $moment $call of '$way', once and in order, and so do those of the next writer",
  async (place) => {
    const path = testFolder();
    const { found, acknowledged } = await crashWriter(path, 1, place, 0);
    expect(found).toBeGreaterThanOrEqual(acknowledged);
    await crashWriter(path, 2, place, found);
  },
);
