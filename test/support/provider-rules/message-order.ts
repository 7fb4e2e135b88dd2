type Fields = Readonly<Record<string, unknown>>;

const MAX_CACHE_MARKERS = 4;

/** Provider rules that a request violates; providers would refuse it. */
export function brokenRules(api: string, body: Buffer): readonly string[] {
  const fields = parsed(body);
  if (api === "anthropic") return anthropicRules(fields);
  if (api === "google") return contentRules(listOf(fields.contents));
  return api === "openai-chat" ? chatRules(listOf(fields.messages)) : itemRules(listOf(fields.input));
}

/** Whether two assistant messages are adjacent: no provider forbids it, but templates of local models may. */
export function hasAnswersInARow(body: Buffer): boolean {
  const { messages } = parsed(body);
  const roles = listOf(messages).map(({ role }) => role);
  return roles.some((role, index) => role === "assistant" && roles[index + 1] === "assistant");
}

function anthropicRules(body: Fields): readonly string[] {
  const messages = listOf(body.messages);
  const idsOf = (message: Fields | undefined, type: string, key: string) =>
    listOf(message?.content)
      .filter((block) => block.type === type)
      .map((block) => String(block[key]));
  const broken = messages.flatMap((message, index) => {
    const uses = idsOf(message, "tool_use", "id");
    const results = idsOf(message, "tool_result", "tool_use_id");
    // Some agents insert system messages; only the call/result pairs matter.
    const next = messages.slice(index + 1).find(({ role }) => role !== "system");
    const previous = messages.slice(0, index).findLast(({ role }) => role !== "system");
    const answered = idsOf(next, "tool_result", "tool_use_id");
    const asked = idsOf(previous, "tool_use", "id");
    return [
      ...uses.filter((id) => !answered.includes(id)).map((id) => `tool_use ${id} has no result`),
      ...results.filter((id) => !asked.includes(id)).map((id) => `tool_result ${id} has no call`),
      ...(isEmpty(message) ? [`message ${index} is empty`] : []),
    ];
  });
  const first = messages.find(({ role }) => role !== "system");
  const markers = [...JSON.stringify(body).matchAll(/"cache_control":\{/g)].length;
  return [
    ...broken,
    ...(first?.role === "user" || idsOf(first, "compaction", "type").length > 0
      ? []
      : ["the first message is not the user's"]),
    ...(markers > MAX_CACHE_MARKERS ? [`${markers} cache markers`] : []),
  ];
}

function isEmpty({ role, content }: Fields): boolean {
  if (role === "assistant" && typeof content === "string") return content === "";
  return content === "" || (Array.isArray(content) && content.length === 0);
}

function chatRules(messages: readonly Fields[]): readonly string[] {
  return messages.flatMap((message, index) => {
    const calls = listOf(message.tool_calls).map(({ id }) => String(id));
    const following = messages.slice(index + 1);
    const end = following.findIndex(({ role }) => role !== "tool");
    const answered = following.slice(0, end === -1 ? undefined : end).map((one) => String(one.tool_call_id));
    const asker = messages.slice(0, index).findLast(({ role }) => role !== "tool");
    const asked = listOf(asker?.tool_calls).map(({ id }) => String(id));
    const isStray = message.role === "tool" && !asked.includes(String(message.tool_call_id));
    return [
      ...calls.filter((id) => !answered.includes(id)).map((id) => `tool call ${id} has no result`),
      ...(isStray ? [`result ${message.tool_call_id} has no call`] : []),
    ];
  });
}

/** Each content with calls is followed by one with as many responses of the same names. */
function contentRules(contents: readonly Fields[]): readonly string[] {
  const namesOf = (content: Fields | undefined, field: string) =>
    listOf(content?.parts).flatMap((part) => (part[field] ? [String((part[field] as Fields).name)] : []));
  return contents.flatMap((content, index) => {
    const calls = namesOf(content, "functionCall");
    const answered = namesOf(contents[index + 1], "functionResponse");
    const responses = namesOf(content, "functionResponse");
    const asked = namesOf(contents[index - 1], "functionCall");
    return [
      ...calls.filter((name) => !answered.includes(name)).map((name) => `call of ${name} has no response`),
      ...responses.filter((name) => !asked.includes(name)).map((name) => `response of ${name} has no call`),
      ...(listOf(content.parts).length === 0 ? [`content ${index} is empty`] : []),
    ];
  });
}

function itemRules(items: readonly Fields[]): readonly string[] {
  const idsOf = (test: (type: string) => boolean) =>
    items.filter(({ type }) => test(String(type))).map(({ call_id }) => String(call_id));
  const calls = idsOf((type) => type.endsWith("_call") && type !== "web_search_call");
  const outputs = idsOf((type) => type.endsWith("_call_output"));
  return [
    ...calls.filter((id) => !outputs.includes(id)).map((id) => `call ${id} has no output`),
    ...outputs.filter((id) => !calls.includes(id)).map((id) => `output ${id} has no call`),
  ];
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}

function parsed(body: Buffer): Fields {
  try {
    return JSON.parse(body.toString()) as Fields;
  } catch {
    return {};
  }
}
