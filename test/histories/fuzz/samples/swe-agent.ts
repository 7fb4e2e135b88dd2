import type { Json } from "../../../../src/kernel/index.ts";
import { json, type Sample } from "../sample.ts";

const said = (role: string, content: string, rest: object = {}): Json =>
  ({ role, content, agent: "primary", ...rest }) as Json;
const state = '{"open_file": "n/a", "working_dir": "/mill"}';

/** Trajectories of SWE-agent, with actions as text and as tool calls. */
export const sweAgentSamples: readonly Sample[] = [
  {
    format: "swe-agent",
    name: "actions as text",
    files: {
      "run/mill__wheel-7.traj": json({
        environment: "swe_main",
        trajectory: [
          {
            action: "ls\n",
            observation: "wheel",
            response: "Look.\n```\nls\n```",
            state,
            thought: "Look.\n",
          },
          {
            action: "submit\n",
            observation: "",
            response: "Done.\n```\nsubmit\n```",
            state,
            thought: "Done.\n",
          },
        ],
        history: [
          said("system", "You repair mills."),
          said("user", "An example.", { is_demo: true }),
          said("user", "The wheel is stuck."),
          said("assistant", "Look.\n```\nls\n```", { thought: "Look.\n", action: "ls\n" }),
          said("user", "wheel"),
          said("assistant", "Done.\n```\nsubmit\n```", { thought: "Done.\n", action: "submit\n" }),
        ],
        info: {
          exit_status: "submitted",
          submission: "diff",
          model_stats: { tokens_sent: 10, instance_cost: 0.1 },
        },
      }),
    },
  },
  {
    format: "swe-agent",
    name: "tool calls",
    files: {
      "run/mill__wheel-8.traj": json({
        trajectory: [
          {
            action: "ls",
            observation: "wheel",
            response: "Look.",
            thought: "Look.",
            execution_time: 0.1,
            state: {},
            query: [said("system", "You repair mills.")],
          },
        ],
        history: [
          said("system", "You repair mills.", { message_type: "system_prompt" }),
          {
            role: "user",
            content: [{ type: "text", text: "Stuck." }],
            agent: "main",
            message_type: "observation",
          },
          said("assistant", "Look.", {
            message_type: "action",
            tool_calls: [
              { id: "c1", type: "function", function: { name: "bash", arguments: '{"command":"ls"}' } },
            ],
          }),
          said("tool", "wheel", { message_type: "observation", tool_call_ids: ["c1"] }),
        ],
        info: {},
      }),
    },
  },
];
