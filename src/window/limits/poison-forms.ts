/** The problem with a rejected block. */
export type PoisonKind =
  | "image"
  | "document"
  | "media-type"
  /** A tool call without its result. */
  | "orphan-call"
  /** A tool result without its call. */
  | "orphan-result"
  /** Calls and results do not match, and the provider does not say which. */
  | "unpaired"
  /** Reasoning that was changed or came from another source. */
  | "reasoning"
  /** Reasoning behind a changed prefix: the block that is named, and all reasoning behind it. */
  | "thinking"
  /** A reply without the reasoning that it was given with. */
  | "missing-reasoning"
  | "empty"
  | "long-text";

/** One wording of a rejection; the named groups `calls`, `item` and `message` capture the ids and the index in it. */
interface PoisonForm {
  readonly kind: PoisonKind;
  readonly pattern: RegExp;
}

/** Wordings that can only mean that a block of the request was rejected. */
export const POISON_FORMS: readonly PoisonForm[] = [
  { kind: "image", pattern: /image exceeds [\d.]+ ?[KM]B maximum/i },
  { kind: "image", pattern: /image dimensions exceed max allowed size/i },
  { kind: "image", pattern: /could not process image|unable to process input image/i },
  { kind: "image", pattern: /uploaded an unsupported image/i },
  { kind: "image", pattern: /image was specified using the \S+ media type, but/i },
  { kind: "media-type", pattern: /\.media_type: input should be/i },
  { kind: "media-type", pattern: /unsupported mime type/i },
  { kind: "media-type", pattern: /expected a base64-encoded data URL with an image MIME type/i },
  { kind: "document", pattern: /maximum of \d+ PDF pages/i },
  { kind: "document", pattern: /PDF specified (?:was not valid|is password protected)/i },
  { kind: "document", pattern: /could not process PDF|the document has no pages/i },
  {
    kind: "orphan-call",
    pattern:
      /`?tool_use`? ids were found without `?tool_result`? blocks\s+immediately after:\s*(?<calls>[\w\-:]+(?:,\s*[\w\-:]+)*)/i,
  },
  {
    kind: "orphan-call",
    pattern:
      /assistant message with ['"]tool_calls['"] must be followed by tool messages(?:[^:]*did not have response messages:\s*(?<calls>[\w\-:]+(?:,\s*[\w\-:]+)*)(?![[\w]))?/i,
  },
  { kind: "orphan-call", pattern: /no tool output found for (?:\w+ ){1,3}call (?<calls>[\w\-:]+)/i },
  {
    kind: "orphan-call",
    pattern:
      /expected toolResult blocks at \S+ for the following Ids:\s*(?<calls>[\w\-:]+(?:,\s*[\w\-:]+)*)/i,
  },
  {
    kind: "orphan-result",
    pattern: /unexpected\s+`?tool_use_id`? found in\s+`?\w*tool_result`? blocks:\s*(?<calls>[\w\-:]+)/i,
  },
  {
    kind: "orphan-result",
    pattern: /messages with role ['"]tool['"] must be a response to a prece+ding message/i,
  },
  {
    kind: "orphan-result",
    pattern: /no tool call found for (?:\w+ ){1,3}call output with call_id (?<calls>[\w\-:]+)/i,
  },
  {
    kind: "orphan-result",
    pattern: /number of toolResult blocks at \S+ exceeds the number of toolUse blocks/i,
  },
  { kind: "orphan-result", pattern: /function response turn comes immediately after a function call turn/i },
  { kind: "orphan-result", pattern: /unexpected tool call id (?<calls>[\w\-:]+) in tool results/i },
  {
    kind: "unpaired",
    pattern: /number of function response parts is equal to the number of function call parts/i,
  },
  { kind: "unpaired", pattern: /function call turn comes immediately after a user turn/i },
  { kind: "unpaired", pattern: /not the same number of function calls and responses/i },
  { kind: "thinking", pattern: /block is bound to a different conversation/i },
  {
    kind: "missing-reasoning",
    pattern: /`?reasoning_content`? in the thinking mode must be passed back/i,
  },
  {
    kind: "missing-reasoning",
    pattern: /missing `?reasoning_content`? field in the assistant message at message index (?<message>\d+)/i,
  },
  {
    kind: "missing-reasoning",
    pattern:
      /`?reasoning_content`? is missing in assistant (?:tool call )?message(?: at index (?<message>\d+))?/i,
  },
  { kind: "reasoning", pattern: /invalid `?signature`? in `?thinking`?\s+block/i },
  {
    kind: "reasoning",
    pattern: /`thinking` or `redacted_thinking` blocks in the latest\s+assistant message cannot be modified/i,
  },
  { kind: "reasoning", pattern: /expected `thinking` or `redacted_thinking`, but found/i },
  { kind: "reasoning", pattern: /missing a thought_signature|thought signature is not valid/i },
  { kind: "reasoning", pattern: /encrypted content \S+ could not be verified/i },
  {
    kind: "reasoning",
    pattern: /item '(?<item>rs_\w+)' of type 'reasoning' was provided without its required following item/i,
  },
  { kind: "reasoning", pattern: /was provided without its required 'reasoning' item: '(?<item>rs_\w+)'/i },
  { kind: "empty", pattern: /text content blocks must (?:be non-empty|contain non-whitespace text)/i },
  { kind: "empty", pattern: /all messages must have non-empty content/i },
  { kind: "empty", pattern: /cache_control cannot be set for empty text blocks/i },
  { kind: "empty", pattern: /text field in the ContentBlock object at \S+ is blank/i },
  { kind: "empty", pattern: /contents\.parts must not be empty|must include at least one parts field/i },
];

/** Codes that can only mean that a block of the request was rejected. */
export const POISON_CODES: ReadonlyMap<string, PoisonKind> = new Map<string, PoisonKind>([
  ["invalid_image", "image"],
  ["invalid_image_format", "image"],
  ["invalid_base64_image", "image"],
  ["image_too_large", "image"],
  ["image_too_small", "image"],
  ["image_parse_error", "image"],
  ["image_file_too_large", "image"],
  ["empty_image_file", "image"],
  ["unsupported_image_media_type", "media-type"],
  ["invalid_encrypted_content", "reasoning"],
  ["string_above_max_length", "long-text"],
]);
