import fc from "fast-check";
import type { WireName, WireObject } from "../../src/wire/wire.ts";
import { PIXEL_PNG } from "../support/pixel.ts";

/** A one-pixel PNG. */
export const PNG = PIXEL_PNG;

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom(
    "Reading.",
    "",
    " ",
    "[tool error]\nno such file",
    "[no result recorded]",
    "long ".repeat(30),
  ),
);
const id = fc.integer({ min: 1, max: 9 }).map((number) => `call_${number}`);
const input = fc.dictionary(fc.constantFrom("path", "line", "__proto__x"), fc.jsonValue({ maxDepth: 1 }), {
  maxKeys: 2,
});
const beside = fc.constantFrom({}, { cache_control: { type: "ephemeral" } }, { unknown: [1] });
const list = <T>(one: fc.Arbitrary<T>, maxLength = 4) => fc.array(one, { maxLength });

function withBeside(one: fc.Arbitrary<WireObject>): fc.Arbitrary<WireObject> {
  return fc.tuple(one, beside).map(([fields, more]) => ({ ...fields, ...more }));
}

const anthropicText = withBeside(text.map((words) => ({ type: "text", text: words })));
const anthropicImage = withBeside(
  fc.constant({ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }),
);
const anthropicResult = withBeside(
  fc
    .tuple(id, fc.oneof(text, list(fc.oneof(anthropicText, anthropicImage))), fc.boolean())
    .map(([tool_use_id, content, is_error]) => ({ type: "tool_result", tool_use_id, content, is_error })),
);
const anthropicCall = withBeside(
  fc.tuple(id, input).map(([call, of]) => ({ type: "tool_use", id: call, name: "read", input: of })),
);
const thinking = fc.oneof(
  text.map((words) => ({ type: "thinking", thinking: words, signature: "c2lnbmVk" })),
  fc.constant({ type: "redacted_thinking", data: "b3BhcXVl" }),
);
const serverTool = fc.constant({
  type: "server_tool_use",
  id: "srv_1",
  name: "web_search",
  input: { query: "x" },
});

const anthropic = fc.oneof(
  fc
    .tuple(fc.constantFrom("user", "assistant", "system"), text)
    .map(([role, content]) => ({ role, content })),
  list(fc.oneof(anthropicResult, anthropicText, anthropicImage)).map((content) => ({
    role: "user",
    content,
  })),
  list(fc.oneof(thinking, anthropicText, anthropicCall, serverTool), 5).map((content) => ({
    role: "assistant",
    content,
  })),
);

const chatText = withBeside(text.map((words) => ({ type: "text", text: words })));
const chatImage = withBeside(
  fc.constant({ type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } }),
);
const chatCall = fc
  .tuple(
    id,
    fc.oneof(
      input.map((of) => JSON.stringify(of)),
      fc.constantFrom("", "{broken"),
    ),
  )
  .map(([call, of]) => ({ id: call, type: "function", function: { name: "read", arguments: of } }));
const chat = fc.oneof(
  fc
    .tuple(fc.constantFrom("user", "assistant", "system", "developer"), fc.oneof(text, list(chatText)))
    .map(([role, content]) => ({ role, content })),
  list(fc.oneof(chatText, chatImage)).map((content) => ({ role: "user", content })),
  fc
    .record(
      {
        content: fc.oneof(text, fc.constant(null), list(chatText)),
        tool_calls: fc.array(chatCall, { minLength: 1, maxLength: 3 }),
        reasoning_content: text,
        refusal: fc.oneof(text, fc.constant(null)),
        name: fc.constant("agent"),
      },
      { requiredKeys: [] },
    )
    .map((fields) => ({ role: "assistant", ...fields })),
  fc
    .tuple(id, fc.oneof(text, list(fc.oneof(chatText, chatImage))))
    .map(([tool_call_id, content]) => ({ role: "tool", tool_call_id, content })),
  fc.constant({ role: "assistant", content: null, function_call: { name: "look", arguments: "{}" } }),
  fc.constant({ role: "function", name: "look", content: "seen" }),
);

const inputText = text.map((words) => ({ type: "input_text", text: words }));
const inputImage = fc.constant({
  type: "input_image",
  image_url: `data:image/png;base64,${PNG}`,
  detail: "auto",
});
const outputText = text.map((words) => ({ type: "output_text", text: words, annotations: [] }));
const responses = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("user", "system", "developer"),
      fc.oneof(text, list(fc.oneof(inputText, inputImage))),
    )
    .map(([role, content]) => ({ type: "message", role, content })),
  fc.tuple(fc.constantFrom("user", "assistant"), text).map(([role, content]) => ({ role, content })),
  list(outputText, 2).map((content) => ({
    type: "message",
    id: "msg_1",
    status: "completed",
    role: "assistant",
    content,
  })),
  fc.tuple(text, fc.boolean()).map(([words, isLong]) => ({
    type: "reasoning",
    id: "rs_1",
    summary: [
      { type: "summary_text", text: words },
      ...(isLong ? [{ type: "summary_text", text: "more" }] : []),
    ],
    encrypted_content: "b3BhcXVl",
  })),
  fc.tuple(id, input).map(([call_id, of]) => ({
    type: "function_call",
    id: "fc_1",
    call_id,
    name: "read",
    arguments: JSON.stringify(of),
  })),
  fc
    .tuple(id, text)
    .map(([call_id, of]) => ({ type: "custom_tool_call", call_id, name: "patch", input: of })),
  fc
    .tuple(id, fc.oneof(text, list(fc.oneof(inputText, inputImage))))
    .map(([call_id, output]) => ({ type: "function_call_output", call_id, output })),
  fc.constant({
    type: "web_search_call",
    id: "ws_1",
    status: "completed",
    action: { type: "search", query: "x" },
  }),
  fc.constant({ type: "computer_call_output", call_id: "call_1", output: { type: "computer_screenshot" } }),
);

const google = fc.oneof(
  fc
    .tuple(fc.constantFrom("user", "model"), list(text.map((words) => ({ text: words }))))
    .map(([role, parts]) => ({ role, parts })),
  fc.constant({ role: "user", parts: [{ inlineData: { mimeType: "image/png", data: PNG } }] }),
  fc.tuple(id, input, fc.boolean()).map(([call, of, isNamed]) => ({
    role: "model",
    parts: [
      { text: "Hm.", thought: true, thoughtSignature: "c2ln" },
      {
        functionCall: { ...(isNamed && { id: call }), name: "read", args: of },
        thoughtSignature: "c2lnMg==",
      },
    ],
  })),
  fc.tuple(id, text, fc.boolean()).map(([call, output, isNamed]) => ({
    role: "user",
    parts: [{ functionResponse: { ...(isNamed && { id: call }), name: "read", response: { output } } }],
  })),
  fc.constant({ role: "model", parts: [{ executableCode: { language: "PYTHON", code: "1" } }] }),
);

const ARBITRARIES: Readonly<Record<WireName, fc.Arbitrary<WireObject>>> = {
  anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  google,
};

/** Messages that clients may send, sensible or not. */
export function elementsOf(name: WireName): fc.Arbitrary<readonly WireObject[]> {
  return fc.array(ARBITRARIES[name], { maxLength: 8 });
}
