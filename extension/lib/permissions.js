// The optional permission to see the URLs of all tabs, requested when it is first needed.

const TABS = { permissions: ["tabs"] };

/** Ask the user. Must be the first call after a click: browsers reject the request otherwise. */
export const requestTabsPermission = () => chrome.permissions.request(TABS);

export const hasTabsPermission = () => chrome.permissions.contains(TABS);
