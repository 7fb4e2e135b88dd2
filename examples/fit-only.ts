// The window alone, for code that keeps its own history (LangChain, OpenAI Agents, a custom loop): messages in, fewer
// messages of the same kind out. Nothing is stored. Accepts messages of OpenAI, Anthropic, the AI SDK, or ours.
import { fitMessages } from "longhaul/ai";

const FRUITS = [
  "apple",
  "banana",
  "cherry",
  "damson",
  "elderberry",
  "fig",
  "grape",
  "huckleberry",
  "jujube",
  "kiwi",
];

const messages = [
  { role: "system", content: "You are a careful reviewer." },
  { role: "user", content: "Review all files." },
  ...Array.from({ length: 200 }, (_, index) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: `call_${index}`, type: "function", function: { name: "read", arguments: `{"file":${index}}` } },
      ],
    },
    {
      role: "tool",
      tool_call_id: `call_${index}`,
      content: `file ${index}: ${FRUITS.map((fruit) => `export const ${fruit}${index} = "${fruit}";`).join("\n")}`,
    },
  ]).flat(),
];

const fitted = await fitMessages(messages, { model: "gpt-4o-mini", models: { "gpt-*": { window: 16_000 } } });
console.log(`${messages.length} messages became ${fitted.length}`);
console.log(`the newest is the same object: ${fitted.at(-1) === messages.at(-1)}`);

const grown = await fitMessages([...messages, { role: "user", content: "Done?" }], {
  model: "gpt-4o-mini",
  models: { "gpt-*": { window: 16_000 } },
});
const isSameBeginning = JSON.stringify(grown).startsWith(JSON.stringify(fitted).slice(0, -1));
console.log(`one message later it begins the same: ${isSameBeginning}`);
