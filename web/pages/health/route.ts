import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/health"],
  label: { en: "Health", zh: "健康" },
  navigation: { order: 5, key: "h" },
  load: () => import("./page.tsx"),
};
