import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/forgot"],
  label: { en: "Forgotten?", zh: "忘记了？" },
  navigation: { order: 2.5, key: "f" },
  load: () => import("./page.tsx"),
};
