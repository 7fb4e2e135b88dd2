import { dropUndefined } from "../../model/base/drop-undefined.ts";
import { toText, toTime } from "../../wire/fields.ts";
import type { ImportSource } from "../port/format.ts";
import type { Input } from "../reading/input.ts";
import type { Item, SessionItem } from "../reading/item.ts";
import type { JsonElement } from "../reading/json-elements.ts";
import { BodyReader } from "./body-reader.ts";
import type { WireDialect, WireRecord } from "./wire-dialect.ts";
import { DistinctIds, toRecordItem } from "./wire-records.ts";

/** Reads a JSON file with an array of messages, a request, a response, or both. */
export async function* readWholeFile(
  dialect: WireDialect,
  source: ImportSource,
  input: Input,
): AsyncGenerator<Item> {
  const body = new BodyReader(dialect, dialect.makeDecoder());
  const ids = new DistinctIds();
  const leads = new Set<string>();
  let places = 0;
  const records = function* (pieces: Iterable<WireRecord>): Generator<Item> {
    for (const piece of pieces) yield toRecordItem(ids.makeDistinct(piece, `@${places++}`));
  };

  for await (const element of input.jsonElements(source.path, dialect.messageFields)) {
    const problem = input.elementProblem(source.path, element);
    if (problem) yield problem;
    if (element.value === undefined) continue;
    if (element.index !== undefined && element.field !== "" && leads.size === 0) {
      leads.add("");
      // The system prompt comes first, even if the file has it last.
      for await (const lead of readLeadElements(dialect, source, input)) {
        leads.add(lead.field);
        yield* records(body.readElement({ field: lead.field, value: lead.value }));
      }
    }
    if (leads.has(element.field) && element.field !== "") continue;
    if (dialect.leadFields.includes(element.field)) leads.add(element.field);
    const { field, index, value } = element;
    yield* records(body.readElement(index === undefined ? { field, value } : { field, index, value }));
  }
  yield* records(body.end());
  yield* buildSessionItems(dialect.name, body.rest);
}

async function* readLeadElements(
  dialect: WireDialect,
  source: ImportSource,
  input: Input,
): AsyncGenerator<JsonElement> {
  if (dialect.leadFields.length === 0) return;
  for await (const element of input.jsonElements(source.path, dialect.messageFields)) {
    const isLead = element.index === undefined && dialect.leadFields.includes(element.field);
    if (isLead && element.value !== undefined) yield element;
  }
}

/** Builds the session item from a request's parameters. */
export function* buildSessionItems(name: string, rest: BodyReader["rest"]): Generator<SessionItem> {
  if (rest.length === 0) return;
  const fields = Object.fromEntries(rest);
  const title = toText(fields.title) ?? toText(fields.name);
  const createdAt = toTime(fields.createdAt ?? fields.created_at);
  yield dropUndefined({
    type: "session",
    title,
    createdAt,
    meta: { [name]: fields },
  });
}
