import type { CommandGroup } from "../cli-command.ts";

/** People of a gateway: tokens, roles and budgets. */
export const tokenCommands: CommandGroup = {
  name: "token",
  summary: "give people tokens, roles and budgets for a shared gateway",
  about:
    "People are stored with the conversations, so that every gateway over the store knows them. docs/team.md describes a team from the beginning.",
  commands: {
    add: async () => (await import("./token/add-token-command.ts")).addTokenCommand,
    list: async () => (await import("./token/manage-token-commands.ts")).listTokensCommand,
    set: async () => (await import("./token/manage-token-commands.ts")).setTokenCommand,
    rotate: async () => (await import("./token/manage-token-commands.ts")).rotateTokenCommand,
    revoke: async () => (await import("./token/manage-token-commands.ts")).revokeTokenCommand,
  },
  examples: ["longhaul token add alice --budget 50/month", "longhaul token list"],
};
