import type { SessionRecord } from "../../index.ts";
import { objectOf, textOf } from "../content/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { OWN_FORMATS } from "./pi/own-meta.ts";
import { SessionLines } from "./pi/session-lines.ts";
import { surveySession } from "./pi/survey.ts";
import type { Writer } from "./writer.ts";

/** Writes a session file of pi, version 3, with all branches; edits become compactions and context edits. */
export const piWriter: Writer = {
  name: "pi",
  title: "pi",
  isFolder: false,

  async *write(session) {
    const { record } = session;
    const header = headerOf(record);
    const stamp = String(header.timestamp).replace(/[:.]/g, "-");
    const file = `${stamp}_${String(header.id).replace(/[^\w.-]/g, "-")}.jsonl`;
    const lineOf = (line: JsonObject) => ({ file, text: `${JSON.stringify(line)}\n` });
    yield lineOf(header);
    const survey = await surveySession(session);
    const title = ownOf(record) ? undefined : record.title;
    for await (const line of new SessionLines(session, survey).lines(title)) yield lineOf(line);
  },
};

/** Returns the session meta that the reader of pi stored. */
function ownOf({ meta }: SessionRecord): JsonObject | undefined {
  return OWN_FORMATS.map((format) => objectOf(meta?.[format])).find((own) => own !== undefined);
}

function headerOf(record: SessionRecord): JsonObject {
  const own = ownOf(record);
  return {
    type: "session",
    ...own,
    version: 3,
    id: textOf(own?.id) ?? record.id.replace(/[^\w.-]/g, "-"),
    timestamp: textOf(own?.timestamp) ?? new Date(record.createdAt).toISOString(),
    cwd: textOf(own?.cwd) ?? cwdOf(record),
  };
}

/** Finds the working folder in the meta of any tool. */
function cwdOf({ meta }: SessionRecord): string {
  for (const facts of Object.values(meta ?? {})) {
    const fields = objectOf(facts);
    const cwd = textOf(fields?.cwd) ?? textOf(fields?.directory);
    if (cwd !== undefined) return cwd;
  }
  return "";
}
