# SPDX-License-Identifier: MIT
PLUGIN_PACKAGES_script := libpcre2-8
