import type { Sample } from "../sample.ts";
import { agentSamples } from "./agents.ts";
import { claudeCodeSamples } from "./claude-code.ts";
import { clineSamples, clineSdkSamples, rooSamples } from "./cline.ts";
import { codexSamples } from "./codex.ts";
import { copilotCliSamples } from "./copilot-cli.ts";
import { geminiCliSamples } from "./gemini-cli.ts";
import { opencodeSamples } from "./opencode.ts";
import { openclawSamples, piSamples } from "./pi.ts";
import { sweAgentSamples } from "./swe-agent.ts";
import { wireSamples } from "./wire.ts";

/** Small conversations in every format. */
export const SAMPLES: readonly Sample[] = [
  ...claudeCodeSamples,
  ...codexSamples,
  ...opencodeSamples,
  ...clineSamples,
  ...rooSamples,
  ...clineSdkSamples,
  ...piSamples,
  ...openclawSamples,
  ...geminiCliSamples,
  ...copilotCliSamples,
  ...sweAgentSamples,
  ...wireSamples,
  ...agentSamples,
];
