import type { PageRoute } from "../../shell/page-route.ts";

export const route: PageRoute = {
  paths: ["/search"],
  label: { en: "Search", zh: "搜索" },
  navigation: { order: 2, key: "s" },
  load: () => import("./page.tsx"),
};
