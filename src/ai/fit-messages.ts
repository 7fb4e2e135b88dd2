import { isLonghaulError, type Message, textOfMessage } from "../index.ts";
import { checkFields, checkList } from "../model/argument-checks.ts";
import {
  alternateRoles,
  fitConversation as fitWindow,
  type Slot,
  type WindowOptions,
} from "../window-entry.ts";
import { addMissingResults } from "./build-prompt.ts";
import { encodeForeignMessages } from "./encode-foreign-messages.ts";
import {
  decodeForeignMessage,
  detectMessageFormat,
  type ForeignMessage,
  type MessageFormat,
} from "./foreign-message.ts";
import {
  createRoleMerger,
  mergePromptRoles,
  type OutgoingMessage,
  type RoleMerger,
} from "./merge-prompt-roles.ts";
import type { SdkMessage } from "./sdk-message.ts";
import { type Media, toPlainMessage } from "./to-plain-message.ts";

/**
 * Fits a conversation into a model's window without storing anything. Accepts our own messages, ModelMessages of the AI
 * SDK, and messages of OpenAI Chat Completions and Anthropic, and returns the same format, with the same objects for
 * unchanged messages. Leading system messages stay. If only clipping the newest question would make the conversation
 * fit, returns it unchanged, unless `oversize` is "error". As the conversation grows, the beginning of the result stays
 * the same.
 */
export async function fitMessages<T extends object>(
  messages: readonly T[],
  options: WindowOptions,
): Promise<readonly T[]> {
  checkList("messages", messages);
  checkFields("options", options);
  const foreign = messages as unknown as readonly ForeignMessage[];
  const dialect = detectMessageFormat(foreign);
  const media: Media = new Map();
  const said = foreign
    .map((own) => ({ foreign: own, message: toPlainMessage(decodeForeignMessage(own, dialect), media) }))
    .filter(({ message }) => message.role !== "tool" || message.parts.length > 0);
  const first = said.findIndex(({ message }) => message.role !== "system");
  const instructions = said.slice(0, first < 0 ? said.length : first);
  const spoken = said.slice(instructions.length);
  const system = options.system ?? instructions.map(({ message }) => textOfMessage(message)).join("\n");
  const slots = fitSlots(
    spoken.map(({ message }) => message),
    { ...options, system },
  );
  if (!slots) return messages;
  const fitted = await encodeSlots(slots, spoken, dialect, media);
  return [...instructions.map((own) => own.foreign), ...fitted] as unknown as readonly T[];
}

/**
 * The window of a conversation; undefined if content that may not be clipped is too large and `oversize` is not
 * "error".
 */
function fitSlots(messages: readonly Message[], options: WindowOptions): readonly Slot[] | undefined {
  try {
    return fitWindow(messages, { oversize: "clip", ...options }).slots;
  } catch (error) {
    if (options.oversize === "error" || !isLonghaulError(error, "WINDOW_FLOOR")) throw error;
    return undefined;
  }
}

interface DecodedMessage {
  readonly foreign: ForeignMessage;
  readonly message: Message;
}

function chooseMerger(dialect: MessageFormat): RoleMerger<ForeignMessage> {
  if (dialect !== "longhaul") return createRoleMerger(dialect);
  const merge = (first: ForeignMessage, second: ForeignMessage) => {
    const [merged, ...others] = alternateRoles([first, second] as unknown as readonly Message[]);
    return others.length === 0 ? (merged as unknown as ForeignMessage) : undefined;
  };
  return { canMerge: (first, second) => merge(first, second) !== undefined, merge };
}

/** Converts a window to the caller's format. */
async function encodeSlots(
  slots: readonly Slot[],
  spoken: readonly DecodedMessage[],
  dialect: MessageFormat,
  media: Media,
): Promise<readonly ForeignMessage[]> {
  const toolNames = new Map<string, string>();
  const bytesOf = async ({ digest }: { readonly digest: string }) => media.get(digest);
  const outgoing: OutgoingMessage<ForeignMessage>[] = [];
  for (const { message, seq, isNote } of slots) {
    for (const part of message.parts) if (part.type === "tool-call") toolNames.set(part.callId, part.name);
    const own = isNote ? undefined : spoken[seq - 1];
    const written =
      own?.message === message
        ? [own.foreign]
        : await encodeForeignMessages(message, { format: dialect, own, toolNames, bytesOf });
    for (const one of written) outgoing.push({ message: one, index: isNote ? undefined : seq - 1 });
  }
  const fitted = mergePromptRoles(outgoing, chooseMerger(dialect), (index) => spoken[index]?.foreign);
  if (dialect !== "ai-sdk") return fitted;
  // Placeholders for missing results were dropped when the messages were read, so add them again.
  return addMissingResults(
    fitted as unknown as readonly SdkMessage[],
  ) as unknown as readonly ForeignMessage[];
}
