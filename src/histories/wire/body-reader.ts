import type { Json } from "../../kernel/index.ts";
import { toObject, toText } from "../../wire/fields.ts";
import type { JsonObject } from "../reading/json-lines.ts";
import type { MessageDecoder, WireDialect, WireRecord } from "./wire-dialect.ts";

/** One value of a request or response: a field, or an element of a message field. */
interface BodyElement {
  readonly field: string;
  readonly index?: number;
  readonly value: unknown;
}

/** Fields that hold a complete request or response. */
const REQUEST_FIELDS: readonly string[] = ["request", "request_body", "body"];
const RESPONSE_FIELDS: readonly string[] = ["response", "response_body"];

/** Maximum length of a field that is kept with the session; larger ones become raw records. */
const MAX_SMALL_CHARACTERS = 2048;

/** Yields the elements of a body in memory, lead fields first. */
export function* listBodyElements(
  body: JsonObject,
  { messageFields, leadFields }: WireDialect,
): Generator<BodyElement> {
  const names = Object.keys(body);
  const ordered = [
    ...names.filter((name) => leadFields.includes(name)),
    ...names.filter((name) => !leadFields.includes(name)),
  ];
  for (const field of ordered) {
    const value = body[field];
    if (messageFields.includes(field) && Array.isArray(value)) {
      for (const [index, message] of value.entries()) yield { field, index, value: message };
    } else yield { field, value };
  }
}

/** Reads one request, response, or both, element by element. */
export class BodyReader {
  readonly #dialect: WireDialect;
  readonly #decoder: MessageDecoder;
  readonly #prefix: string;
  readonly #responseFields: [string, unknown][] = [];
  readonly #restFields: [string, Json][] = [];
  readonly #responses: JsonObject[] = [];
  #responseId: string | undefined;

  constructor(dialect: WireDialect, decoder: MessageDecoder, prefix = "") {
    this.#dialect = dialect;
    this.#decoder = decoder;
    this.#prefix = prefix;
  }

  /** Id of the response, after the body has ended. */
  get responseId(): string | undefined {
    return this.#responseId;
  }

  /** Small fields that are neither messages nor part of a response: the request's parameters. */
  get rest(): readonly (readonly [string, Json])[] {
    return this.#restFields;
  }

  *readElement(element: BodyElement): Generator<WireRecord> {
    const { field, index, value } = element;
    const { leadFields, responseFields, messageFields } = this.#dialect;
    const body = toObject(value);
    if (index !== undefined) yield* this.#message(value, `${this.#placeOf(field)}#${index}`);
    else if (leadFields.includes(field)) yield* this.#dialect.decodeLead(value, this.#named(field));
    else if (messageFields.includes(field) && typeof value === "string")
      yield* this.#message({ role: "user", content: value }, `${this.#placeOf(field)}#0`);
    else if (REQUEST_FIELDS.includes(field) && body) yield* this.#request(body);
    else if (RESPONSE_FIELDS.includes(field) && body) this.#responses.push(body);
    else if (responseFields.includes(field)) this.#responseFields.push([field, value]);
    else yield* this.#keep(field, value);
  }

  /** Emits held messages and the response. */
  *end(): Generator<WireRecord> {
    const fields: JsonObject = Object.fromEntries(this.#responseFields);
    this.#responseId = toText(fields.id);
    const response = [...this.#dialect.decodeResponse(fields, this.#named("response"), this.#decoder)];
    yield* response;
    // Without a response, these fields belong to the request.
    if (response.length === 0)
      for (const [field, value] of this.#responseFields) yield* this.#keep(field, value);
    for (const body of this.#responses) {
      const response = new BodyReader(this.#dialect, this.#decoder, this.#named("response"));
      for (const element of listBodyElements(body, this.#dialect)) yield* response.readElement(element);
      yield* response.end();
      this.#responseId = response.#responseId ?? this.#responseId;
      for (const one of response.#restFields) this.#restFields.push(one);
    }
    yield* this.#decoder.end();
  }

  *#keep(field: string, value: unknown): Generator<WireRecord> {
    if (isSmall(value)) this.#restFields.push([field, value as Json]);
    else yield { id: this.#named(field), body: { kind: "raw", value: { [field]: value as Json } } };
  }

  *#request(body: JsonObject): Generator<WireRecord> {
    for (const element of listBodyElements(body, this.#dialect)) yield* this.readElement(element);
  }

  *#message(value: unknown, place: string): Generator<WireRecord> {
    const message = toObject(value);
    if (message && this.#dialect.isMessage(message)) yield* this.#decoder.decode(message, place);
    else yield { id: place, body: { kind: "raw", value: value as Json } };
  }

  /** Numbers messages of the first field plainly; those of other fields carry its name. */
  #placeOf(field: string): string {
    const isFirst = field === "" || field === this.#dialect.messageFields[0];
    return isFirst ? this.#prefix : this.#named(field);
  }

  #named(field: string): string {
    return this.#prefix === "" ? field : `${this.#prefix}:${field}`;
  }
}

function isSmall(value: unknown): boolean {
  if (value === null || typeof value !== "object") return String(value).length <= MAX_SMALL_CHARACTERS;
  return JSON.stringify(value).length <= MAX_SMALL_CHARACTERS;
}
