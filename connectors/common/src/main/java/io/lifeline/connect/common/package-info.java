/** Shared by the plugins; each contains a copy, since Connect gives every plugin its own class loader. */
package io.lifeline.connect.common;
