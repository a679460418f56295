CREATE TABLE "payouts"."refused_accounts" (
	"account" text PRIMARY KEY NOT NULL,
	"marks" text[] NOT NULL,
	"channel_code" text NOT NULL,
	"since" timestamp (3) with time zone,
	"revision" integer NOT NULL,
	"set_by" text NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
