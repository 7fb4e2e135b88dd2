/** Instructions for pointing one agent at the gateway. */
export interface AgentLines {
  readonly agent: string;
  /** The place for the lines: a shell, a file, a settings dialog. */
  readonly place: string;
  readonly lines: string;
}

/** The gateway's address, as agents reach it. */
export interface GatewayAddress {
  readonly url: string;
  /** True if the gateway requires a token; agents send it next to their own key. */
  readonly needsToken: boolean;
  /** True if requests of Anthropic's API reach Anthropic itself, so that its clients may use all its features. */
  readonly isAnthropic?: boolean;
}

/** Makes Claude Code send an address of another name all that it sends to Anthropic's. */
const FIRST_PARTY_VARIABLE = "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL";

const HEADER = "x-longhaul-token";

/** The lines to paste for each agent. No line contains a secret: tokens and keys are named by their variable. */
export function buildAgentLines({ url, needsToken, isAnthropic }: GatewayAddress): readonly AgentLines[] {
  const versioned = `${url}/v1`;
  const headers = (variable: string) => (needsToken ? { headers: { [HEADER]: variable } } : {});
  const claudeHeader = needsToken ? `ANTHROPIC_CUSTOM_HEADERS="${HEADER}: $LONGHAUL_TOKEN" ` : "";
  const firstParty = isAnthropic ? `${FIRST_PARTY_VARIABLE}=1 ` : "";
  return [
    {
      agent: "Claude Code",
      place: "shell",
      lines: `ANTHROPIC_BASE_URL=${url} ${firstParty}${claudeHeader}claude`,
    },
    {
      agent: "Codex",
      place: "~/.codex/config.toml",
      lines: [
        'model_provider = "longhaul"',
        "[model_providers.longhaul]",
        'name = "OpenAI"',
        `base_url = "${versioned}"`,
        'wire_api = "responses"',
        'env_key = "OPENAI_API_KEY"',
        ...(needsToken ? [`env_http_headers = { "${HEADER}" = "LONGHAUL_TOKEN" }`] : []),
      ].join("\n"),
    },
    {
      agent: "pi",
      place: "~/.pi/agent/models.json",
      lines: JSON.stringify({
        providers: {
          anthropic: { baseUrl: url, ...headers("LONGHAUL_TOKEN") },
          openai: { baseUrl: versioned, ...headers("LONGHAUL_TOKEN") },
        },
      }),
    },
    {
      agent: "opencode",
      place: "opencode.json",
      lines: JSON.stringify({
        provider: {
          anthropic: { options: { baseURL: versioned, ...headers("{env:LONGHAUL_TOKEN}") } },
          openai: { options: { baseURL: versioned, ...headers("{env:LONGHAUL_TOKEN}") } },
        },
      }),
    },
    {
      agent: "Cline",
      place: "settings",
      lines: `API Provider Anthropic, Use custom base URL ${url}; or OpenAI Compatible, Base URL ${versioned}${
        needsToken ? `, Custom Headers ${HEADER}` : ""
      }`,
    },
    {
      agent: "Continue",
      place: "~/.continue/config.yaml, in each model",
      lines: [
        `apiBase: ${versioned}`,
        ...(needsToken
          ? ["requestOptions:", "  headers:", `    ${HEADER}: \${{ secrets.LONGHAUL_TOKEN }}`]
          : []),
      ].join("\n"),
    },
    {
      agent: "OpenClaw",
      place: "~/.openclaw/openclaw.json",
      lines: JSON.stringify({
        models: {
          mode: "merge",
          providers: {
            anthropic: {
              baseUrl: url,
              api: "anthropic-messages",
              // biome-ignore lint/suspicious/noTemplateCurlyInString: OpenClaw's own way to name a variable
              ...headers("${LONGHAUL_TOKEN}"),
              models: [{ id: "claude-sonnet-4-5", name: "Claude Sonnet 4.5" }],
            },
          },
        },
      }),
    },
    {
      agent: "any SDK",
      place: "shell",
      lines: `export ANTHROPIC_BASE_URL=${url} OPENAI_BASE_URL=${versioned}`,
    },
  ];
}
