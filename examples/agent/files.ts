// Tools for files: read, edit, search. Failures are thrown as sentences, which the model gets to read.
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { tool } from "ai";
import { z } from "zod";
import { inside } from "./inside.ts";

const MAX_LINES = 500;
const MAX_BYTES = 1_000_000;
const MAX_HITS = 60;
const MAX_FILES = 20_000;
const LEFT_OUT = new Set([".git", "node_modules", "dist", "build", "target", ".venv"]);

const PATH = z.string().describe("a path in the working folder");

export function readTool(folder: string) {
  return tool({
    description: "Reads a text file, with line numbers.",
    inputSchema: z.object({
      path: PATH,
      from: z.number().int().min(1).optional().describe("first line; 1 unless given"),
    }),
    execute: async ({ path, from = 1 }) => {
      const lines = (await textOf(await inside(folder, path))).split("\n");
      const shown = lines.slice(from - 1, from - 1 + MAX_LINES);
      const rest = lines.length - (from - 1) - shown.length;
      const more = rest > 0 ? [`[${rest} more lines; read on with from: ${from + shown.length}]`] : [];
      return [...shown.map((line, index) => `${from + index}| ${line}`), ...more].join("\n");
    },
  });
}

export function editTool(folder: string) {
  return tool({
    description:
      "Puts new text in place of old text in a file. The old text must occur exactly once. With an empty old text, makes a new file.",
    inputSchema: z.object({ path: PATH, old: z.string(), new: z.string() }),
    execute: async ({ path, old, new: text }) => {
      const file = await inside(folder, path);
      if (old === "") {
        await mkdir(dirname(file), { recursive: true });
        // Fails if the file exists, so that nothing is overwritten unseen.
        await writeFile(file, text, { flag: "wx" });
        return `Made ${path}.`;
      }
      const before = await textOf(file);
      const at = before.indexOf(old);
      if (at < 0) throw new Error(`The old text does not occur in ${path}; read the file again.`);
      if (before.indexOf(old, at + 1) >= 0)
        throw new Error(`The old text occurs more than once in ${path}; give more of what is around it.`);
      await writeFile(file, before.slice(0, at) + text + before.slice(at + old.length));
      return `Edited ${path}, line ${before.slice(0, at).split("\n").length}.`;
    },
  });
}

export function searchTool(folder: string) {
  return tool({
    description: "Finds a text, word by word, in the files of a folder.",
    inputSchema: z.object({
      text: z.string().min(1),
      folder: z.string().optional().describe("a folder in the working folder; all of it unless given"),
    }),
    execute: async ({ text, folder: below = "." }) => {
      const root = await inside(folder, ".");
      const hits: string[] = [];
      for await (const file of filesIn(await inside(folder, below))) {
        const lines = (await textOf(file).catch(() => "")).split("\n");
        for (const [index, line] of lines.entries()) {
          if (line.includes(text))
            hits.push(`${relative(root, file)}:${index + 1}: ${line.trim().slice(0, 300)}`);
        }
        if (hits.length >= MAX_HITS) break;
      }
      return hits.length === 0 ? "Nothing was found." : hits.slice(0, MAX_HITS).join("\n");
    },
  });
}

async function textOf(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_BYTES) throw new Error(`The file has ${size} bytes; that is too much to read whole.`);
  const text = await readFile(file, "utf8");
  if (text.includes("\0")) throw new Error("The file is no text.");
  return text;
}

/** Does not follow links, which may lead outside or in circles. */
async function* filesIn(folder: string): AsyncGenerator<string> {
  const waiting = [folder];
  for (let count = 0, next = waiting.pop(); next !== undefined && count < MAX_FILES; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true })) {
      if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) waiting.push(join(next, entry.name));
      if (!entry.isFile()) continue;
      count++;
      yield join(next, entry.name);
    }
  }
}
