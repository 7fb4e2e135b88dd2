import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { dropUndefined } from "../../model/base/drop-undefined.ts";

/** A text or reasoning part that is still being streamed. */
interface OpenPart {
  readonly type: "text" | "reasoning";
  readonly pieces: string[];
  providerMetadata?: SharedV4ProviderMetadata | undefined;
}

/** Assembles the parts of a streamed reply. */
export class ReplyAssembler {
  readonly #parts: (OpenPart | LanguageModelV4Content)[] = [];
  readonly #open = new Map<string, OpenPart>();

  /** True once the reply has any content. */
  get hasAny(): boolean {
    return this.#parts.length > 0;
  }

  /** Id of the text being streamed, if no other part follows it. */
  get openText(): string | undefined {
    const last = this.#parts.at(-1);
    for (const [id, open] of this.#open) if (open === last && open.type === "text") return id;
    return undefined;
  }

  /** Adds the next stream part; returns true if that completes a part of the reply. */
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

  /** All content so far. */
  content(): readonly LanguageModelV4Content[] {
    return this.#parts.map((part): LanguageModelV4Content => {
      if (!("pieces" in part)) return part;
      const { type, pieces, providerMetadata } = part;
      return { type, text: pieces.join(""), ...dropUndefined({ providerMetadata }) };
    });
  }

  #begin(id: string, type: OpenPart["type"]): OpenPart {
    const open: OpenPart = { type, pieces: [] };
    this.#parts.push(open);
    this.#open.set(id, open);
    return open;
  }
}
