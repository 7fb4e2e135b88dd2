import { betasOf, blocksOf, invalidRequest } from "./bound-thinking.ts";
import { type Fields, fieldsIn, type ModelRequest, type Refusal } from "./judgement.ts";

const CLEAR_AT = "mid-conversation-system-clear-at-2026-08-21";
const TOOL_CHANGES = "mid-conversation-tool-changes-2026-07-01";
const INLINE_TOOLS = "inline-tools-2026-09-15";
const ON_DEMAND = "compact-2026-09-04";

/** The first rule that system messages inside of a conversation break, and their changes of tools, if any. */
export function refuseSystemMessages({ body, header }: ModelRequest): Refusal | undefined {
  const betas = betasOf(header);
  const messages = fieldsIn(body.messages);
  if (body.compaction !== undefined && !betas.includes(ON_DEMAND))
    return invalidRequest("compaction-beta", "compaction: Extra inputs are not permitted");
  const problems = messages.flatMap((message, index) =>
    message.role === "system"
      ? [...misplaced(messages, index), ...wrongContent(message, index, betas, body)]
      : message.clear_at === undefined
        ? []
        : [`messages.${index}.clear_at: only a system message can be cleared`],
  );
  return problems[0] === undefined ? undefined : invalidRequest("system-message", problems[0]);
}

/** A system message follows words or results of the user, and the model speaks after it. */
function misplaced(messages: readonly Fields[], index: number): readonly string[] {
  const before = messages[index - 1]?.role;
  const after = messages[index + 1]?.role;
  const isPlaced = (before === "user" || before === "system") && after !== "user";
  return isPlaced
    ? []
    : [`messages.${index}: a system message must follow a user message and precede an assistant message`];
}

function wrongContent(
  { content, clear_at: clearAt }: Fields,
  index: number,
  betas: readonly string[],
  { tools }: Fields,
): readonly string[] {
  const at = `messages.${index}`;
  const problems: string[] = [];
  if (clearAt !== undefined && !betas.includes(CLEAR_AT))
    problems.push(`${at}.clear_at: Extra inputs are not permitted`);
  else if (clearAt !== undefined && clearAt !== "next_user_message")
    problems.push(`${at}.clear_at: Input should be 'next_user_message'`);
  const declared = fieldsIn(tools).map(({ name }) => name);
  for (const [place, block] of blocksOf(content).entries()) {
    const path = `${at}.content.${place}`;
    if (clearAt !== undefined && block.cache_control !== undefined)
      problems.push(`${path}.cache_control: a message that is cleared cannot be cached`);
    if (block.type !== "tool_addition" && block.type !== "tool_removal") continue;
    if (!betas.includes(TOOL_CHANGES)) problems.push(`${path}: Input tag '${block.type}' is not supported`);
    const tool = Object(block.tool) as Fields;
    if (tool.type === "tool_definition") {
      if (!betas.includes(INLINE_TOOLS)) problems.push(`${path}.tool: Extra inputs are not permitted`);
      declared.push((tool.definition as Fields | undefined)?.name);
    } else if (!declared.includes(tool.tool_name ?? tool.name))
      problems.push(`${path}.tool: ${String(tool.tool_name ?? tool.name)} is not declared in tools`);
  }
  return problems;
}
