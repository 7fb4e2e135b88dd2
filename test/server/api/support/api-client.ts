import { expect } from "vitest";
import type { TestGateway } from "../../../support/gateway.ts";
import { findSchemaProblems, type JsonSchema } from "../../../support/json-schema.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary fields of answers, which the document checks.
type Json = any;

/** A reply of the API. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: {
    readonly content: { readonly "application/json": { readonly schema: JsonSchema } };
  };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Json>> }>>;
}

/** Asks the API of a gateway, and checks every answer against the document that the gateway itself serves. */
export class ApiClient {
  readonly #url: string;
  readonly #document: JsonSchema;
  readonly #headers: Readonly<Record<string, string>>;
  /** Operations that were answered successfully. */
  readonly answered: Set<string>;

  constructor(
    url: string,
    document: JsonSchema,
    headers: Readonly<Record<string, string>> = {},
    answered: Set<string> = new Set(),
  ) {
    this.#url = url;
    this.#document = document;
    this.#headers = headers;
    this.answered = answered;
  }

  static async open({ url }: Pick<TestGateway, "url">): Promise<ApiClient> {
    const response = await fetch(`${url}/openapi.json`);
    expect(response.status).toBe(200);
    return new ApiClient(url, (await response.json()) as JsonSchema);
  }

  /** The same client of another gateway, which serves the same document. */
  at({ url }: Pick<TestGateway, "url">): ApiClient {
    return new ApiClient(url, this.#document);
  }

  get operations(): readonly string[] {
    const paths = this.#document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    return Object.values(paths).flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  }

  /** The same client as another person. */
  as(token: string): ApiClient {
    return new ApiClient(this.#url, this.#document, { authorization: `Bearer ${token}` }, this.answered);
  }

  get(path: string): Promise<ApiAnswer> {
    return this.ask("GET", path);
  }

  post(path: string, body: object = {}): Promise<ApiAnswer> {
    return this.ask("POST", path, body);
  }

  async ask(method: string, path: string, body?: object): Promise<ApiAnswer> {
    const operation = this.#findOperation(method, path);
    const response = await this.fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const answer = { status: response.status, body: await response.json(), headers: response.headers };
    const described = operation.responses[String(answer.status)];
    expect(
      described,
      `${method} ${path} answered ${answer.status}, which the document lacks: ${JSON.stringify(answer.body).slice(0, 300)}`,
    ).toBeDefined();
    const content = described?.content?.["application/json"];
    expect(findSchemaProblems(this.#document, content.schema, answer.body), `${method} ${path}`).toEqual([]);
    if (answer.status < 300) {
      // A request that is answered is one that the document allows.
      const schema = operation.requestBody?.content["application/json"].schema;
      if (body && schema) expect(findSchemaProblems(this.#document, schema, body), path).toEqual([]);
      this.answered.add(operation.operationId);
    }
    return answer;
  }

  /** Reads bytes. */
  async download(path: string): Promise<Response> {
    const operation = this.#findOperation("GET", path);
    const response = await this.fetch(path);
    if (response.status === 200) this.answered.add(operation.operationId);
    return response;
  }

  /** Follows a stream until `count` events have come, and checks each against the document. */
  async follow(path: string, count: number, { lastEventId }: { readonly lastEventId?: string } = {}) {
    const operation = this.#findOperation("GET", path);
    const stop = new AbortController();
    const response = await this.fetch(path, {
      signal: stop.signal,
      headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
    });
    expect(response.status).toBe(200);
    const schemas = operation.responses["200"]?.content?.["text/event-stream"]["x-events"];
    const events: { id: string | undefined; event: string; data: Json }[] = [];
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const fields = new Map(
          text
            .slice(0, end)
            .split("\n")
            .map((line) => [line.split(": ", 1)[0], line.replace(/^\w*: /, "")]),
        );
        text = text.slice(end + 2);
        const event = fields.get("event");
        if (event === undefined) continue;
        const data = JSON.parse(fields.get("data") as string);
        expect(schemas[event], `the document lacks the event ${event}`).toBeDefined();
        expect(findSchemaProblems(this.#document, schemas[event], data), `${path} ${event}`).toEqual([]);
        events.push({ id: fields.get("id"), event, data });
      }
      if (events.length >= count) break;
    }
    stop.abort();
    this.answered.add(operation.operationId);
    return events;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#url}/api/v1${path}`, {
      ...init,
      headers: { ...this.#headers, ...(init.headers as Record<string, string>) },
    });
  }

  #findOperation(method: string, path: string): Operation {
    const [plain = ""] = `/api/v1${path}`.split("?", 1);
    const paths = this.#document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    const matching = Object.keys(paths).filter((pattern) => {
      const parts = pattern.split("/");
      const own = plain.split("/");
      return (
        parts.length === own.length && parts.every((part, at) => part.startsWith("{") || part === own[at])
      );
    });
    // A literal path goes before one with a parameter.
    const [best] = matching.toSorted((one, other) => one.split("{").length - other.split("{").length);
    const operation = best === undefined ? undefined : paths[best]?.[method.toLowerCase()];
    if (!operation) throw new Error(`The document has no ${method} ${plain}.`);
    return operation;
  }
}
