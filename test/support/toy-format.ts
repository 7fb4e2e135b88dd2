import type { Format } from "../../src/histories/port/format.ts";
import { decodeLines } from "../../src/histories/reading/decode-lines.ts";
import type { Item } from "../../src/histories/reading/item.ts";

/** A format whose lines are items already, to test the handling of items without a real format. */
export const toyFormat: Format = {
  name: "pi",
  title: "Toy",
  processes: ["toy-agent"],
  homes: () => [],
  async detect(folder) {
    return folder.files
      .filter(({ name }) => name.endsWith(".toy"))
      .map((file) => ({
        format: "pi" as const,
        id: file.name.replace(/\.toy$/, ""),
        path: file.path,
        paths: [file.path],
        sizeBytes: file.sizeBytes,
        modifiedAt: file.modifiedAt,
        ...(file.name.includes("+") && { parent: file.name.split("+")[0] as string }),
      }));
  },
  read: (source, input) =>
    decodeLines(input, source.path, () => ({
      decode: ({ record }) => [record as unknown as Item],
      isSettled: true,
      state: () => null,
      end: () => [],
    })),
};
