/** The version of this build: in `/api/version`, in what a runner reports. A test holds it equal to package.json. */
export const version = '0.1.0';
