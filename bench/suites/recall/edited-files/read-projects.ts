import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { importSources } from "../../../../src/histories/index.ts";
import { openKernel } from "../../../../src/kernel/open-kernel.ts";
import { readHistory } from "../history/history-entries.ts";
import { rootOf } from "../history/history-question.ts";
import { openRecall } from "../open-recall.ts";
import { ProjectHistory } from "./project-history.ts";

/** Formats in the order of their folders; one project may have sessions of several agents. */
const FORMATS = ["claude-code", "cline", "codex", "copilot-cli", "gemini-cli", "opencode", "pi", "swe-agent"];

/** Reads all transcripts, project by project; stores are made in `folder`. */
export async function readProjects(transcripts: string, folder: string): Promise<readonly ProjectHistory[]> {
  const projects = new Map<string, ProjectHistory>();
  for (const format of FORMATS) {
    const from = join(transcripts, format);
    if (!existsSync(from)) continue;
    const path = join(folder, format);
    const kernel = await openKernel({ path, embedder: null });
    const { sources } = await importSources(kernel, [from]);
    await kernel.close();
    const nameOf = new Map(
      sources.map(({ session, path }) => [rootOf(session), relative(from, path).split("/")[0] ?? format]),
    );
    const { log, close } = await openRecall(path);
    for await (const entry of readHistory(log)) {
      const name = nameOf.get(rootOf(entry.session)) ?? format;
      const project = projects.get(name) ?? new ProjectHistory(name);
      projects.set(name, project);
      project.add(entry);
    }
    await close();
  }
  return [...projects.values()];
}
