import { UriTemplate, type Variables } from "@modelcontextprotocol/server";
import type { SessionId } from "../../index.ts";

const START = "longhaul://session/";

/** The address of a session; slashes of its id are encoded. */
export function buildSessionUri(id: SessionId): string {
  return `${START}${encodeURIComponent(id)}`;
}

/** A template that matches by a pattern, because the template's own matching demands all numbers of a query. */
class PatternTemplate extends UriTemplate {
  readonly #pattern: RegExp;

  constructor(template: string, pattern: RegExp) {
    super(template);
    this.#pattern = pattern;
  }

  override match(uri: string): Variables | null {
    const [, id, query = ""] = this.#pattern.exec(uri) ?? [];
    if (id === undefined) return null;
    const { from, to } = Object.fromEntries(new URLSearchParams(query));
    try {
      return {
        id: decodeURIComponent(id),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      };
    } catch {
      return null;
    }
  }
}

/** The messages of a session: all, or those from one seq to another. */
export const SESSION_TEMPLATE = new PatternTemplate(
  `${START}{id}{?from,to}`,
  /^longhaul:\/\/session\/([^/?#]+)(?:\?([^#]*))?$/,
);

/** The summaries of a session. */
export const SUMMARIES_TEMPLATE = new PatternTemplate(
  `${START}{id}/summaries`,
  /^longhaul:\/\/session\/([^/?#]+)\/summaries$/,
);
