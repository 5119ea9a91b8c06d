package io.confluent.ksql.function.udtf;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a method that is a table function: it returns a list, each element of which becomes a row. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Udtf {

  String description() default "";

  String schema() default "";

  String schemaProvider() default "";
}
