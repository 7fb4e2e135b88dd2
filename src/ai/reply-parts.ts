import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";

/** A text or thought that is still being said. */
interface OpenPart {
  readonly type: "text" | "reasoning";
  readonly pieces: string[];
  providerMetadata?: SharedV4ProviderMetadata | undefined;
}

/** Puts the parts of a streamed reply together. */
export class ReplyParts {
  readonly #parts: (OpenPart | LanguageModelV4Content)[] = [];
  readonly #open = new Map<string, OpenPart>();

  /** True once something has been said. */
  get hasAny(): boolean {
    return this.#parts.length > 0;
  }

  /** The text that is being said now, if nothing has come after it. */
  get openText(): string | undefined {
    const last = this.#parts.at(-1);
    for (const [id, open] of this.#open) if (open === last && open.type === "text") return id;
    return undefined;
  }

  /** Takes in what came next; true if a part is whole now. */
  add(part: LanguageModelV4StreamPart): boolean {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.#begin(part.id, part.type === "text-start" ? "text" : "reasoning").providerMetadata =
          part.providerMetadata;
        return false;
      case "text-delta":
      case "reasoning-delta": {
        const open =
          this.#open.get(part.id) ?? this.#begin(part.id, part.type === "text-delta" ? "text" : "reasoning");
        open.pieces.push(part.delta);
        open.providerMetadata = part.providerMetadata ?? open.providerMetadata;
        return false;
      }
      case "text-end":
      case "reasoning-end": {
        const open = this.#open.get(part.id);
        if (open) open.providerMetadata = part.providerMetadata ?? open.providerMetadata;
        this.#open.delete(part.id);
        return true;
      }
      case "tool-call":
      case "tool-result":
      case "file":
      case "reasoning-file":
      case "custom":
      case "source":
      case "tool-approval-request":
        this.#parts.push(part);
        return true;
      default:
        return false;
    }
  }

  /** All that was said so far. */
  content(): readonly LanguageModelV4Content[] {
    return this.#parts.map((part): LanguageModelV4Content => {
      if (!("pieces" in part)) return part;
      const { type, pieces, providerMetadata } = part;
      return { type, text: pieces.join(""), ...(providerMetadata && { providerMetadata }) };
    });
  }

  #begin(id: string, type: OpenPart["type"]): OpenPart {
    const open: OpenPart = { type, pieces: [] };
    this.#parts.push(open);
    this.#open.set(id, open);
    return open;
  }
}
