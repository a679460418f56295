CREATE TABLE "gateway"."identity_anomalies" (
	"delivery_id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"provider" text NOT NULL,
	"detail" text NOT NULL,
	"noticed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
