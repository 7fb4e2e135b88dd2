import type { SessionRecord } from "../../kernel/index.ts";
import { findProjectFolder } from "../../model/session-origin.ts";
import { toObject, toText } from "../../wire/fields.ts";
import type { Writer } from "../port/writer.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import { PI_FORMATS } from "./writing/own-meta.ts";
import { SessionLines } from "./writing/session-lines.ts";
import { surveySession } from "./writing/session-survey.ts";

/** Writes a session file of pi, version 3, with all branches; edits become compactions and context edits. */
export const piWriter: Writer = {
  name: "pi",
  title: "pi",
  isFolder: false,

  async *write(session) {
    const { record } = session;
    const header = buildHeader(record);
    const stamp = String(header.timestamp).replace(/[:.]/g, "-");
    const file = `${stamp}_${String(header.id).replace(/[^\w.-]/g, "-")}.jsonl`;
    const lineOf = (line: JsonObject) => ({ file, text: `${JSON.stringify(line)}\n` });
    yield lineOf(header);
    const survey = await surveySession(session);
    const title = findSessionMeta(record) ? undefined : record.title;
    for await (const line of new SessionLines(session, survey).lines(title)) yield lineOf(line);
  },
};

/** Returns the session meta that the reader of pi stored. */
function findSessionMeta({ meta }: SessionRecord): JsonObject | undefined {
  return PI_FORMATS.map((format) => toObject(meta?.[format])).find((own) => own !== undefined);
}

function buildHeader(record: SessionRecord): JsonObject {
  const own = findSessionMeta(record);
  return {
    type: "session",
    ...own,
    version: 3,
    id: toText(own?.id) ?? record.id.replace(/[^\w.-]/g, "-"),
    timestamp: toText(own?.timestamp) ?? new Date(record.createdAt).toISOString(),
    cwd: toText(own?.cwd) ?? findProjectFolder(record) ?? "",
  };
}
