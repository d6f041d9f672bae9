// Leave to see the addresses of all tabs: asked for when it is first needed.

const LEAVE = { permissions: ["tabs"] };

/** Must be the first thing after a click: browsers grant leave to nothing else. */
export const askLeave = () => chrome.permissions.request(LEAVE);

export const hasLeave = () => chrome.permissions.contains(LEAVE);
